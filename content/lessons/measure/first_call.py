import time

import torch

x = torch.randn(200, 200)
times = []
for _ in range(20):
    start = time.perf_counter()
    torch.linalg.svd(x @ x)
    end = time.perf_counter()
    times.append((end - start) * 1000)

print(f"first  {times[0]:8.2f} ms")
print(f"second {times[1]:8.2f} ms")
print(f"last   {times[-1]:8.2f} ms")
