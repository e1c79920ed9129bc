# device: gpu
# code: launch_bound
# %% setup
import torch

weights = torch.randn(60, 2048, 2048, device="cuda")
means = torch.zeros(60, 2048, 2048, device="cuda")

# %% averaged
new = means * 0.9 + weights * 0.1
new[-1]
