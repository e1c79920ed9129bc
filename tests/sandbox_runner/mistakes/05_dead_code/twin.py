# device: cpu
# code: dead_code
import torch


def chain(x):
    waves = torch.sin(x) + torch.cos(x)
    return waves + 1


x = torch.randn(10_000)
fast = torch.compile(chain, backend="eager")

fast(x)
