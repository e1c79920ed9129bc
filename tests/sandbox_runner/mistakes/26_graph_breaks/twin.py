# device: cpu
# code: graph_breaks
import torch


def scaled(x):
    return torch.where(x.sum() > 0, x * 2, x)


x = torch.rand(1000)
fast = torch.compile(scaled, backend="eager")

fast(x)
