# device: cpu
# code: debug_mode
# %% setup
import torch

w = torch.ones(100, requires_grad=True)

# %% step
w.grad = None
loss = (w * w).sum()
loss.backward()
loss.detach()
