# device: gpu
# code: no_sync
import time

import torch

x = torch.randn(4096, 4096, device="cuda")
torch.cuda.synchronize()
start = time.perf_counter()
y = x @ x
took = time.perf_counter() - start
print(took)
