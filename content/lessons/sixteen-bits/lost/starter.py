import numpy as np


def make(rng, n):
    x = 10.0 ** rng.uniform(-10, 7, n)
    return {"x": x.astype(np.float32)}


def solve(x):
    zeros = 0
    infs = 0
    with np.errstate(over="ignore"):
        for v in x:
            h = np.float16(v)
            if h == 0 and v != 0:
                zeros += 1
            if np.isinf(h):
                infs += 1
    return np.array([zeros, infs])
