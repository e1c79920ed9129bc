# device: cpu
# code: grad_differs
# %% setup
import torch
from torch import nn

model = nn.Linear(100, 100)
x = torch.randn(50, 100)

# %% plain
with torch.no_grad():
    out = model(x)
out

# %% without gradients
with torch.no_grad():
    out = model(x)
out
