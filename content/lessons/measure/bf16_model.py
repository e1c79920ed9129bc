# %% setup
import copy

import numpy as np
import torch
from torch import nn

gpu = torch.cuda.is_available()
device = "cuda" if gpu else "cpu"
n = 4096 if gpu else 64

torch.manual_seed(0)
model = nn.Sequential(
    nn.Linear(1024, 4096),
    nn.GELU(),
    nn.Linear(4096, 1024),
)
model.requires_grad_(requires_grad=False)
model.to(device)
half = copy.deepcopy(model).to(torch.bfloat16)


def make(rng, n):
    x = torch.from_numpy(rng.standard_normal((n, 1024)))
    x = x.to(device, torch.float32)
    return {"x": x, "x16": x.to(torch.bfloat16)}


made = make(np.random.default_rng(0), n)
x, x16 = made["x"], made["x16"]

# %% float32
model(x)

# %% bfloat16
half(x16)
