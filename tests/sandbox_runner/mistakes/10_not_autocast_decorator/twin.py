# device: cpu
# code: not_autocast
import torch
from torch import nn

net = nn.Linear(512, 512).requires_grad_(False)
x = torch.randn(512, 512)


@torch.autocast("cpu", dtype=torch.bfloat16)
def run(rows):
    return net(rows)


run(x)
