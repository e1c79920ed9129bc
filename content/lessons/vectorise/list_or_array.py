# %% setup
import numpy as np

n = 200_000


def make(rng, n):
    x = rng.random(n)
    return {"x": x, "values": x.tolist()}


made = make(np.random.default_rng(0), n)
x, values = made["x"], made["values"]

# %% over array
total = 0.0
for v in x:
    total += v * v
float(total)

# %% over list
total = 0.0
for v in values:
    total += v * v
float(total)
