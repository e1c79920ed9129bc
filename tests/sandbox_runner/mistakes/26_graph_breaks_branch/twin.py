# device: cpu
# code: graph_breaks
import torch


@torch.compile(backend="eager")
def f(x):
    y = x.sin()
    y = torch.where(y.sum() > 0, y * 2, y)
    return y + 1


x = torch.rand(10_000)
f(x)
