import numpy as np


def make(rng, n):
    return {"x": rng.normal(size=n)}


def solve(x):
    positive = np.maximum(x, 0.0)
    return (positive * positive).sum()
