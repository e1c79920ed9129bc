# device: gpu
# code: gpu_idle
# %% setup
import torch

batches = [torch.randn(4096, 4096, device="cuda") for _ in range(5)]
w = torch.randn(4096, 4096, device="cuda")

# %% epoch
for batch in batches:
    out = batch @ w
out
