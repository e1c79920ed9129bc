# %% setup
import numpy as np
import torch

n = 16


def affine(x):
    return x * 2 + 1


def make(rng, n):
    return {"x": torch.from_numpy(rng.normal(size=n))}


x = make(np.random.default_rng(0), n)["x"]
fast = torch.compile(affine, backend="eager")

# %% once
fast(x)

# %% every time
torch.compile(affine, backend="eager")(x)
