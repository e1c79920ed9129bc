# device: cpu
# code: casts_cost
# %% setup
import torch
from torch import nn

layer = nn.Linear(8, 8).requires_grad_(False)
x = torch.randn(4, 8)

# %% layer
with torch.autocast("cpu", dtype=torch.bfloat16):
    out = layer(x)
out
