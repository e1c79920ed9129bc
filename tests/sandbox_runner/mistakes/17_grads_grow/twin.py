# device: cpu
# code: grads_grow
# %% setup
import torch

w = torch.ones(1000, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.0)

# %% step
opt.zero_grad()
loss = (w * w).sum()
loss.backward()
opt.step()
loss.detach()
