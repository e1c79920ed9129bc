# device: gpu
# code: gpu_idle
# %% setup
import numpy as np
import torch

rng = np.random.default_rng(0)
raw = [rng.random((256, 1024), dtype="float32") for _ in range(20)]
w = torch.randn(1024, 512, device="cuda")


def prepared(rows):
    rows = np.sort(rows, axis=1)
    return torch.from_numpy((rows - rows.mean(axis=0)) / rows.std(axis=0)).to("cuda")


# %% epoch
total = torch.zeros((), device="cuda")
for rows in raw:
    total += (prepared(rows) @ w).sum()
total
