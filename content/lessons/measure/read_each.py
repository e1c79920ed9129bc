# %% setup
import numpy as np
import torch

gpu = torch.cuda.is_available()
device = "cuda" if gpu else "cpu"
n = 8_000_000 if gpu else 1000


def make(rng, n):
    return {"x": torch.from_numpy(rng.random(n)).to(device)}


x = make(np.random.default_rng(0), n)["x"]

# %% read once
total = torch.zeros((), dtype=x.dtype, device=device)
for step in range(50):
    total = total + (x + step).sum()
total.item()

# %% read each
total = 0.0
for step in range(50):
    total = total + (x + step).sum().item()
total
