# %% setup
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
layers = []
for _ in range(8):
    layers += [nn.Linear(256, 256), nn.ReLU()]
model = nn.Sequential(*layers).cuda()
model.requires_grad_(requires_grad=False)
default = torch.compile(model)
graphs = torch.compile(model, mode="reduce-overhead")


def make(rng, n):
    x = rng.standard_normal((64, 256), dtype=np.float32)
    return {"x": torch.from_numpy(x).cuda()}


x = make(np.random.default_rng(0), 64)["x"]

# %% default
default(x)

# %% reduce-overhead
graphs(x)

# %% eager
model(x)
