# %% setup
import numpy as np
import torch
from torch import nn

n = 256
torch.manual_seed(0)
model = nn.Sequential(
    nn.Linear(512, 2048),
    nn.ReLU(),
    nn.Linear(2048, 512),
)


def make(rng, n):
    x = rng.normal(size=(n, 512)).astype(np.float32)
    return {"x": torch.from_numpy(x)}


x = make(np.random.default_rng(0), n)["x"]

# %% float32
with torch.inference_mode():
    out = model(x)
out

# %% autocast
with (
    torch.inference_mode(),
    torch.amp.autocast("cpu", dtype=torch.bfloat16),
):
    out = model(x)
out
