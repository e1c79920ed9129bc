# device: gpu
# code: launch_bound
# %% setup
import torch

weights = [torch.randn(32, 32, device="cuda") for _ in range(60)]
means = [torch.zeros(32, 32, device="cuda") for _ in range(60)]

# %% averaged
new = [mean * 0.9 + weight * 0.1 for mean, weight in zip(means, weights, strict=True)]
new[-1]
