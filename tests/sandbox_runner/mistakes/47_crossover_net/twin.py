# device: gpu
# code: crossover
# %% setup
import copy

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
n = 2048
net = nn.Sequential(nn.Linear(2048, 2048), nn.Tanh(), nn.Linear(2048, 1)).requires_grad_(False)
there = copy.deepcopy(net).to("cuda")


def make(rng, n):
    x = torch.from_numpy(rng.random((n, 2048), dtype="float32"))
    return {"x": x, "x_there": x.to("cuda")}


made = make(np.random.default_rng(0), n)
x, x_there = made["x"], made["x_there"]

# %% processor
net(x)

# %% card
there(x_there)
