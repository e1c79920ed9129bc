# device: gpu
# code: item_sync
# %% setup
import torch

x = torch.randn(1000, 1000, device="cuda")

# %% sums
total = 0.0
for step in range(20):
    total += (x + step).sum().item()
total
