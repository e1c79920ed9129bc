# device: gpu
# code: empty_cache
# %% setup
import torch

x = torch.randn(4096, 4096, device="cuda")

# %% step
y = x * 2
z = y.sum()
del y
z
