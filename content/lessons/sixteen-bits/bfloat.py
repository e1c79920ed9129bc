import torch

for value in (70000.0, 1e-30, 1 / 3, 1000.3, 257.0):
    x = torch.tensor(value)
    print(x.bfloat16().item(), x.half().item())

info = torch.finfo(torch.bfloat16)
print(info.eps, info.max > 3e38)
