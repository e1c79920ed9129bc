# device: cpu
# code: graph_breaks
import torch


def scaled(x):
    if x.sum().item() > 0:
        return x * 2
    return x


x = torch.rand(1000)
fast = torch.compile(scaled, backend="eager")

fast(x)
