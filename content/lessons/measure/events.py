import statistics

import torch

x = torch.randn(4096, 4096, device="cuda")
for _ in range(20):
    x @ x

times = []
for _ in range(20):
    start = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    start.record()
    x @ x
    end.record()
    end.synchronize()
    times.append(start.elapsed_time(end))

print(f"median {statistics.median(times):.3f} ms")
print(f"min    {min(times):.3f} ms")
