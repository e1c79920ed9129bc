# device: cpu
# code: not_autocast
import torch
from torch import nn

net = nn.Linear(256, 256).requires_grad_(False)
x = torch.randn(128, 256)


@torch.autocast("cpu", dtype=torch.bfloat16)
def scaled(rows):
    return rows * 0.5


def run(rows):
    return net(scaled(rows))


run(x)
