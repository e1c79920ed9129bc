# device: cpu
# code: debug_mode
import torch
from torch.profiler import profile as watched

x = torch.rand(200, 200)
with watched():
    x @ x


def product():
    return x @ x


product()
