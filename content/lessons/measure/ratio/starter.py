import math

import numpy as np


def make(rng, n):
    a = 2.0 + rng.exponential(size=(n, 2))
    b = 1.0 + rng.exponential(size=(n, 2))
    return {"a": a, "b": b}


def solve(a, b):
    logs = []
    for i in range(len(a)):
        top = a[i, 0] + a[i, 1]
        bottom = b[i, 0] + b[i, 1]
        logs.append(math.log(top / bottom))
    logs.sort()
    n = len(logs)
    middle = (logs[(n - 1) // 2] + logs[n // 2]) / 2
    return np.float64(math.exp(middle))
