# device: cpu
# code: scaler_bf16
# %% setup
import torch
from torch import nn

model = nn.Linear(64, 64)
opt = torch.optim.SGD(model.parameters(), lr=0.0)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0)
x = torch.randn(128, 64)

# %% step
opt.zero_grad()
with torch.autocast("cpu", dtype=torch.bfloat16):
    loss = model(x).float().pow(2).mean()
scaler.scale(loss).backward()
scaler.step(opt)
scaler.update()
loss.detach()
