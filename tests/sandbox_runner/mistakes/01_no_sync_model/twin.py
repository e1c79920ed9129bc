# device: gpu
# code: no_sync
from time import perf_counter as now

import torch
from torch import nn

model = nn.Sequential(nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 4096)).cuda()
batch = torch.randn(2048, 4096, device="cuda")
with torch.no_grad():
    model(batch)
    torch.cuda.synchronize()
    before = now()
    for _ in range(10):
        out = model(batch)
    out.cpu()
    print("ms a step:", (now() - before) * 100)
