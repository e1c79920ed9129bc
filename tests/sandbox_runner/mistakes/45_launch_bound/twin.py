# device: gpu
# code: launch_bound
# %% setup
import torch

x = torch.randn(8192, 8192, device="cuda")

# %% steps
y = x
for _ in range(50):
    y = torch.relu(y + 1)
y
