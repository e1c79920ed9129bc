# %% setup
import numpy as np

n = 8_000_000


def make(rng, n):
    x = rng.integers(0, 50, n)
    return {
        "x32": x.astype(np.float32),
        "x16": x.astype(np.float16),
    }


made = make(np.random.default_rng(0), n)
x32, x16 = made["x32"], made["x16"]

# %% float32
x32.copy()

# %% float16
x16.copy()
