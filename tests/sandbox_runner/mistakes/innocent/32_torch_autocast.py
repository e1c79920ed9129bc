# device: cpu
# code: none
import torch

torch.manual_seed(0)
a = torch.randn(1200, 1200)
b = torch.randn(1200, 1200)


def product():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return a @ b


product()
