# device: cpu
# code: train_mode_differs
# %% setup
import copy

import torch
from torch import nn

one = nn.Sequential(nn.Linear(100, 100), nn.Dropout(0.1)).requires_grad_(False).train()
two = copy.deepcopy(one).eval()
x = torch.randn(50, 100)

# %% first
one(x)

# %% second
two(x)
