# %% setup
import numpy as np

n = 200_000


def make(rng, n):
    wide = rng.random((n, 16))
    column = wide[:, 0]
    return {"column": column, "packed": column.copy()}


made = make(np.random.default_rng(0), n)
column, packed = made["column"], made["packed"]

# %% packed
float((packed * packed).sum())

# %% strided
float((column * column).sum())
