# device: cpu
# code: recompiled
import torch


def double(x):
    return x * 2


x = torch.randn(100)
fast = torch.compile(double, backend="eager", dynamic=False)

sum(fast(x[:k]).numel() for k in (10, 20, 30, 40, 50))
