# device: cpu
# code: dead_code
import torch


@torch.compile
def f(x):
    y = x
    for _ in range(20):
        y = torch.sin(y)
    return x.mean()


x = torch.randn(200_000)
f(x)
