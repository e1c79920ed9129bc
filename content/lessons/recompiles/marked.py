import torch
from torch._dynamo.utils import counters


def add(x):
    return x + 1


fast = torch.compile(add, backend="eager")
batch = torch.ones(5, 3)
torch._dynamo.mark_dynamic(batch, 0)
fast(batch)
for n in (6, 7, 8):
    fast(torch.ones(n, 3))
print(counters["stats"]["unique_graphs"])

fast(torch.ones(8, 4))
print(counters["stats"]["unique_graphs"])
