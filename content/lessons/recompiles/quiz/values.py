import torch
from torch._dynamo.utils import counters


def add(x):
    return x + 1


fast = torch.compile(add, backend="eager")
for value in (1.0, 2.0, 3.0):
    fast(torch.full((4,), value))
print(counters["stats"]["unique_graphs"])
