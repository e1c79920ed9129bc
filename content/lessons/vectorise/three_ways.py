# %% setup
import numpy as np

n = 1_000_000


def make(rng, n):
    return {"x": rng.random(n)}


x = make(np.random.default_rng(0), n)["x"]

# %% loop
total = 0.0
for v in x:
    total += v * v
float(total)

# %% expression
float((x * x).sum())

# %% dot
float(x @ x)
