# %% setup
import numpy as np
import torch

gpu = torch.cuda.is_available()
device = "cuda" if gpu else "cpu"
size = 50_000_000 if gpu else 1_000_000


def chain(x):
    y = torch.sin(x * 0.5) + 1.0
    return torch.exp(-y * y) + x


compiled = torch.compile(chain)


def make(rng, n):
    x = rng.random(size, dtype=np.float32)
    return {"x": torch.from_numpy(x).to(device)}


x = make(np.random.default_rng(0), size)["x"]

# %% eager
chain(x)

# %% compiled
compiled(x)
