import time

import torch

x = torch.randn(8192, 8192, device="cuda")
x @ x
torch.cuda.synchronize()

start = time.perf_counter()
y = x @ x
returned = time.perf_counter()
torch.cuda.synchronize()
finished = time.perf_counter()

print(f"call returned {(returned - start) * 1e3:8.3f} ms")
print(f"work finished {(finished - start) * 1e3:8.3f} ms")
