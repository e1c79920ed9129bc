# device: cpu
# code: autocast_reentered
import torch
from torch import nn

net = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256))
batches = [torch.randn(256, 256) for _ in range(4)]


@torch.inference_mode()
def epoch():
    sums = []
    for rows in batches:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            sums.append(net(rows).float().sum())
    return torch.stack(sums)


epoch()
