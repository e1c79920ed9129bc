# device: cpu
# code: none
import torch

torch.manual_seed(0)
a = torch.randn(100, 100)
b = torch.randn(100, 100)

a @ b
