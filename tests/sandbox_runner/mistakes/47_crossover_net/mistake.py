# device: gpu
# code: crossover
# %% setup
import copy

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
n = 8
net = nn.Sequential(nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1)).requires_grad_(False)
there = copy.deepcopy(net).to("cuda")


def make(rng, n):
    x = torch.from_numpy(rng.random((n, 16), dtype="float32"))
    return {"x": x, "x_there": x.to("cuda")}


made = make(np.random.default_rng(0), n)
x, x_there = made["x"], made["x_there"]

# %% processor
net(x)

# %% card
there(x_there)
