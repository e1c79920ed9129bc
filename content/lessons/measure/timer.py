import statistics
import time

import torch

gpu = torch.cuda.is_available()
device = "cuda" if gpu else "cpu"


def finish():
    if gpu:
        torch.cuda.synchronize()


def time_it(call, warm_s=0.2, repeats=30):
    end = time.perf_counter() + warm_s
    while time.perf_counter() < end:
        call()
        finish()
    times = []
    for _ in range(repeats):
        finish()
        start = time.perf_counter()
        call()
        finish()
        times.append(time.perf_counter() - start)
    return statistics.median(times), min(times)


x = torch.randn(1024, 1024, device=device)
median, least = time_it(lambda: x @ x)
print(f"median {median * 1e3:.3f} ms")
print(f"min    {least * 1e3:.3f} ms")
