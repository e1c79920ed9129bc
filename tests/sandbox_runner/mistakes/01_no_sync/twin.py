# device: gpu
# code: no_sync
import time

import torch

x = torch.randn(4096, 4096, device="cuda")
x @ x
torch.cuda.synchronize()
start = time.perf_counter()
y = x @ x
torch.cuda.synchronize()
took = time.perf_counter() - start
print(took)
