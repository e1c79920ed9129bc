# device: cpu
# code: grad_kept
# %% setup
import torch
from torch import nn

model = nn.Linear(100, 100)
x = torch.randn(50, 100)

# %% forward
model(x)
