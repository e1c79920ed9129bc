import numpy as np


def make(rng, n):
    return {"x": rng.normal(size=n)}


def solve(x):
    total = 0.0
    for v in x:
        if v > 0:
            total += v * v
    return np.float64(total)
