import torch
from torch._dynamo.utils import counters


def add(x):
    return x + 1


for dynamic in (None, True):
    torch._dynamo.reset()
    counters.clear()
    fast = torch.compile(
        add,
        backend="eager",
        dynamic=dynamic,
    )
    print("dynamic", dynamic)
    for n in (5, 6, 7, 8, 1):
        fast(torch.ones(n))
        print(n, counters["stats"]["unique_graphs"])
