import numpy as np


def make(rng, n):
    a = 2.0 + rng.exponential(size=(n, 2))
    b = 1.0 + rng.exponential(size=(n, 2))
    return {"a": a, "b": b}


def solve(a, b):
    logs = np.log(a.sum(axis=1) / b.sum(axis=1))
    return np.exp(np.median(logs))
