# device: cpu
# code: scaler_bf16
# %% setup
import torch
from torch import nn

model = nn.Linear(64, 64)
opt = torch.optim.SGD(model.parameters(), lr=0.0)
x = torch.randn(256, 64)

# %% step
opt.zero_grad()
loss = model(x).pow(2).mean()
loss.backward()
opt.step()
loss.detach()
