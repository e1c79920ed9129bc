# device: cpu
# code: oversubscribed
import torch

torch.set_num_threads(64)
x = torch.randn(200, 200)

x @ x
