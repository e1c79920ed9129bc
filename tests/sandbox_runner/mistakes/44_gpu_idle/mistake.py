# device: gpu
# code: gpu_idle
# %% setup
import torch
from torch.utils.data import DataLoader, TensorDataset

rows = TensorDataset(torch.randn(2000, 64))
loader = DataLoader(rows, batch_size=20)
w = torch.randn(64, 64, device="cuda")

# %% epoch
for (batch,) in loader:
    out = batch.to("cuda") @ w
out
