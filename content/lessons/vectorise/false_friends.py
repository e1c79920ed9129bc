# %% setup
import numpy as np

n = 200_000


def square(v):
    return v * v


def make(rng, n):
    x = rng.random(n)
    return {"x": x, "values": x.tolist()}


made = make(np.random.default_rng(0), n)
x, values = made["x"], made["values"]
vectorized = np.vectorize(square, otypes=[float])

# %% loop
total = 0.0
for v in values:
    total += square(v)
total

# %% comprehension
sum([square(v) for v in values])

# %% vectorize
float(vectorized(x).sum())

# %% array
float(square(x).sum())
