# device: cpu
# code: graph_breaks
import torch


@torch.compile(backend="eager")
def f(x):
    y = x.sin()
    if y.sum() > 0:
        y = y * 2
    return y + 1


x = torch.rand(10_000)
f(x)
