# %% setup
import numpy as np

n = 4


def make(rng, n):
    x = rng.random(n)
    return {"x": x, "values": x.tolist()}


made = make(np.random.default_rng(0), n)
x, values = made["x"], made["values"]

# %% loop
total = 0.0
for v in values:
    total += v * v
total

# %% array
float((x * x).sum())
