import torch
from torch._dynamo.utils import counters


def add(x):
    return x + 1


fast = torch.compile(add, backend="eager")
for n in (5, 6, 7, 8):
    fast(torch.ones(n))
print(counters["stats"]["unique_graphs"])
