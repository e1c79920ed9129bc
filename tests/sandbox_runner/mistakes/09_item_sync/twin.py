# device: gpu
# code: item_sync
# %% setup
import torch

x = torch.randn(1000, 1000, device="cuda")

# %% sums
total = torch.zeros((), device="cuda")
for step in range(20):
    total = total + (x + step).sum()
total.item()
