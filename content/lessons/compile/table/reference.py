import numpy as np


def make(rng, n):
    cost = rng.uniform(5.0, 60.0, n)
    eager = rng.uniform(0.01, 0.05, n)
    fast = rng.uniform(0.005, 0.05, n)
    return {"cost": cost, "eager": eager, "fast": fast}


def solve(cost, eager, fast):
    saved = eager - fast
    pays = saved > 0
    calls = np.full(len(cost), -1.0)
    calls[pays] = np.ceil(cost[pays] / saved[pays])
    return calls
