# %% setup
import numpy as np

n = 100_000


def make(rng, n):
    return {"x": rng.random(n)}


x = make(np.random.default_rng(0), n)["x"]

# %% first
float(np.sqrt(x).sum())

# %% again
float(np.sqrt(x).sum())
