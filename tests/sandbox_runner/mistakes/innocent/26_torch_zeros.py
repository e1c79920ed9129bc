# device: cpu
# code: none
import torch

torch.manual_seed(0)
x = torch.zeros(3000)

x + 1
