# device: cpu
# code: casts_cost
# %% setup
import torch
from torch import nn

layer = nn.Linear(8, 8).requires_grad_(False).to(torch.bfloat16)
x = torch.randn(4, 8).to(torch.bfloat16)

# %% layer
out = layer(x)
out
