import logging

import torch
from torch._dynamo.utils import counters

torch._logging.set_logs(dynamo=logging.ERROR)


def add(x):
    return x + 1


for dynamic in (None, False, True):
    torch._dynamo.reset()
    counters.clear()
    fast = torch.compile(
        add,
        backend="eager",
        dynamic=dynamic,
    )
    for n in range(2, 14):
        fast(torch.ones(n))
    print(dynamic, counters["stats"]["unique_graphs"])

print(torch._dynamo.config.recompile_limit)
