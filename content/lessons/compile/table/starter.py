import math

import numpy as np


def make(rng, n):
    cost = rng.uniform(5.0, 60.0, n)
    eager = rng.uniform(0.01, 0.05, n)
    fast = rng.uniform(0.005, 0.05, n)
    return {"cost": cost, "eager": eager, "fast": fast}


def solve(cost, eager, fast):
    calls = np.empty(len(cost))
    for i in range(len(cost)):
        saved = eager[i] - fast[i]
        if saved > 0:
            calls[i] = math.ceil(cost[i] / saved)
        else:
            calls[i] = -1.0
    return calls
