import torch
from torch._dynamo.utils import counters


def add(x):
    if x.shape[0] > 10:
        return x * 2
    return x + 1


fast = torch.compile(add, backend="eager", dynamic=True)
for n in (5, 6, 20, 30, 7):
    fast(torch.ones(n))
    print(n, counters["stats"]["unique_graphs"])
