# device: cpu
# code: autocast_reentered
import torch
from torch import nn

layer = nn.Linear(200, 200)
x = torch.randn(300, 200)


def halved(step, v):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return step(v)


@torch.no_grad()
def net(v):
    for _ in range(3):
        v = halved(layer, v)
    return v


net(x)
