# device: cpu
# code: not_autocast
# %% setup
import torch

x = torch.randn(256, 256)
w = torch.randn(256, 256)

# %% product
with torch.autocast("cpu", dtype=torch.bfloat16):
    out = (x * 2) @ w
out
