# device: cpu
# code: compile_timed
import time

import torch


def double(x):
    return torch.sin(x) * 2


x = torch.randn(1_000_000)
fast = torch.compile(double, backend="eager")
start = time.perf_counter()
y = fast(x)
took = time.perf_counter() - start
print(took)
