import logging

import torch
from torch._dynamo.utils import counters

torch._logging.set_logs(dynamo=logging.ERROR)


def before(x):
    mean = x.mean().item()
    if mean > 0:
        x = x / mean
    return torch.relu(x) + 1


def after(x):
    mean = x.mean()
    x = torch.where(mean > 0, x / mean, x)
    return torch.relu(x) + 1


def graphs(function, **options):
    torch._dynamo.reset()
    counters.clear()
    fast = torch.compile(
        function,
        backend="eager",
        **options,
    )
    for n in range(5, 13):
        x = torch.linspace(-1, 2, n)
        torch.testing.assert_close(fast(x), function(x))
    return counters["stats"]["unique_graphs"]


print("before", graphs(before))
print("one graph", graphs(after, fullgraph=True))
print(
    "dynamic",
    graphs(after, fullgraph=True, dynamic=True),
)
