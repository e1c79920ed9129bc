# %% setup
import numpy as np
import torch

n = 64


def make(rng, n):
    return {"x": torch.from_numpy(rng.random((256, n)))}


x = make(np.random.default_rng(0), n)["x"]

# %% many small
rows = [row * 2 + 1 for row in x]
torch.stack(rows)

# %% one large
x * 2 + 1
