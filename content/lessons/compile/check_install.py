import time

import torch

gpu = torch.cuda.is_available()
device = "cuda" if gpu else "cpu"
print("torch", torch.__version__)
print("device", device)


def chain(x):
    return torch.sin(x) * 2 + 1


fast = torch.compile(chain)
x = torch.randn(1000, device=device)
for call in ("first", "second", "third"):
    start = time.perf_counter()
    y = fast(x)
    if gpu:
        torch.cuda.synchronize()
    took = time.perf_counter() - start
    print(f"{call:6} call {took:8.4f} s")

close = torch.allclose(y, chain(x), atol=1e-5)
print("same result", close)
