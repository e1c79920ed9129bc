import numpy as np


def make(rng, n):
    x = rng.random(n) * 100
    return {"x": x.astype(np.float16)}


def solve(x):
    total = 0.0
    for v in x:
        total += float(v)
    return np.float64(total)
