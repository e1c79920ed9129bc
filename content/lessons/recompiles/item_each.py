# %% setup
import numpy as np
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
n = 2000


def make(rng, n):
    x = torch.from_numpy(rng.random((n, 8)))
    return {"x": x.to(device)}


x = make(np.random.default_rng(0), n)["x"]

# %% item in the loop
total = 0.0
for row in x:
    total += row.sum().item()
total

# %% item at the end
total = torch.zeros((), dtype=x.dtype, device=device)
for row in x:
    total += row.sum()
total.item()
