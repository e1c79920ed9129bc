# device: cpu
# code: cpu_autocast
# %% setup
import torch
from torch import nn

layer = nn.Sequential(*[nn.Linear(8, 8) for _ in range(6)]).requires_grad_(False)
x = torch.randn(4, 8)

# %% float32
out = layer(x)
out

# %% autocast
with torch.autocast("cpu", dtype=torch.bfloat16):
    out = layer(x)
out
