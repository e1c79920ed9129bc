# device: cpu
# code: clip_scaled
# %% setup
import torch
from torch.nn.utils import clip_grad_norm_

w = torch.ones(1000, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.0)
scaler = torch.amp.GradScaler("cpu", init_scale=4.0)

# %% step
opt.zero_grad()
loss = (w * w).sum()
scaler.scale(loss).backward()
scaler.unscale_(opt)
clip_grad_norm_([w], 1.0)
scaler.step(opt)
scaler.update()
loss.detach()
