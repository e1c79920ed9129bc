import numpy as np


def make(rng, n):
    x = 10.0 ** rng.uniform(-10, 7, n)
    return {"x": x.astype(np.float32)}


def solve(x):
    with np.errstate(over="ignore"):
        h = x.astype(np.float16)
    zeros = ((h == 0) & (x != 0)).sum()
    return np.array([zeros, np.isinf(h).sum()])
