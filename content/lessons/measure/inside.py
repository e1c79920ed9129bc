# %% setup
import numpy as np

n = 20_000


def make(rng, n):
    values = rng.random(n).tolist()
    return {"values": values, "x": np.array(values)}


made = make(np.random.default_rng(0), n)
values, x = made["values"], made["x"]

# %% prepared
float(np.sqrt(x).sum())

# %% converted inside
y = np.array(values)
float(np.sqrt(y).sum())
