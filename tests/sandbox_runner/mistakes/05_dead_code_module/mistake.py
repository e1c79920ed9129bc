# device: cpu
# code: dead_code
import torch as th
from torch import nn


class Wave(nn.Module):
    def forward(self, v):
        for _ in range(30):
            th.sin(v)
        return v + 1


wave = th.compile(Wave(), backend="eager")
v = th.rand(10_000)

wave(v)
