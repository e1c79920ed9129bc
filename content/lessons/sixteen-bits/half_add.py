# %% setup
import numpy as np

n = 1_000_000


def make(rng, n):
    a = rng.integers(0, 50, n)
    b = rng.integers(0, 50, n)
    return {
        "a32": a.astype(np.float32),
        "b32": b.astype(np.float32),
        "a16": a.astype(np.float16),
        "b16": b.astype(np.float16),
    }


made = make(np.random.default_rng(0), n)
a32, b32 = made["a32"], made["b32"]
a16, b16 = made["a16"], made["b16"]

# %% float32
a32 + b32

# %% float16
a16 + b16
