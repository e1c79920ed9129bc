# device: cpu
# code: none
import torch

torch.manual_seed(0)
a = torch.randn(300, 300)
b = torch.randn(300, 300)


def product():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return a @ b


product()
