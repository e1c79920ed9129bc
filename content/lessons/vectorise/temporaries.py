# %% setup
import numpy as np

n = 1_000_000


def make(rng, n):
    a, b, c = rng.random((3, n))
    buffer = np.empty(n)
    return {"a": a, "b": b, "c": c, "buffer": buffer}


made = make(np.random.default_rng(0), n)
a, b, c = made["a"], made["b"], made["c"]
buffer = made["buffer"]

# %% expression
a * b + c

# %% out
np.multiply(a, b, out=buffer)
np.add(buffer, c, out=buffer)
buffer
