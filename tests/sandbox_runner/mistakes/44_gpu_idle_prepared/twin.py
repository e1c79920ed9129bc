# device: gpu
# code: gpu_idle
# %% setup
import torch

torch.manual_seed(0)
raw = [torch.rand(8192, 1024, device="cuda") for _ in range(20)]
w = torch.randn(1024, 4096, device="cuda")

# %% epoch
total = torch.zeros((), device="cuda")
for rows in raw:
    total += (rows @ w).sum()
total
