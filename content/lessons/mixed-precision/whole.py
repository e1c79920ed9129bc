# %% setup
import copy

import numpy as np
import torch
from torch import nn

n = 8
torch.manual_seed(0)
model = nn.Sequential(
    nn.Linear(1024, 4096),
    nn.ReLU(),
    nn.Linear(4096, 1024),
)
low = copy.deepcopy(model).bfloat16()


def make(rng, n):
    x = rng.normal(size=(n, 1024)).astype(np.float32)
    return {"x": torch.from_numpy(x)}


x = make(np.random.default_rng(0), n)["x"]

# %% autocast
with (
    torch.inference_mode(),
    torch.amp.autocast("cpu", dtype=torch.bfloat16),
):
    out = model(x)
out

# %% converted
with torch.inference_mode():
    out = low(x.bfloat16())
out
