# %% setup
import numpy as np
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
n = 50_000_000 if device == "cuda" else 4_000_000


def chain(x):
    y = (x + 1) * 0.5
    y = y.abs().clamp(max=0.9)
    return y.sqrt() * y


def make(rng, n):
    x = rng.random(n, dtype="float32")
    return {"x": torch.from_numpy(x).to(device)}


x = make(np.random.default_rng(0), n)["x"]
fast = torch.compile(chain)

# %% eager
chain(x)

# %% compiled
fast(x)
