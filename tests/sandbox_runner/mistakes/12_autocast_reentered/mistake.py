# device: cpu
# code: autocast_reentered
# %% setup
import torch
from torch import nn

layer = nn.Linear(256, 256)
x = torch.randn(512, 256)

# %% layers
with torch.no_grad():
    y = x
    for _ in range(4):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = layer(y)
y
