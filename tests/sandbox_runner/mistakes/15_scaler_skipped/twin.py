# device: cpu
# code: scaler_skipped
# %% setup
import torch

w = torch.zeros(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.0)
scaler = torch.amp.GradScaler("cpu")

# %% step
opt.zero_grad()
loss = torch.sqrt(w + 1).sum()
scaler.scale(loss).backward()
scaler.step(opt)
scaler.update()
loss.detach()
