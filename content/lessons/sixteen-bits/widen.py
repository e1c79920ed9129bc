# %% setup
import numpy as np

n = 1_000_000


def make(rng, n):
    x = rng.integers(0, 8, n).astype(np.float16)
    return {"x": x}


x = make(np.random.default_rng(0), n)["x"]

# %% float16
x * x + x

# %% widened
wide = x.astype(np.float32)
(wide * wide + wide).astype(np.float16)
