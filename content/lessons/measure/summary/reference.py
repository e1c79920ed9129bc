import numpy as np


def make(rng, n):
    return {"times": 1.0 + rng.exponential(size=(n, 30))}


def solve(times):
    ordered = np.sort(times, axis=1)
    half = ordered.shape[1] // 2
    median = (ordered[:, half - 1] + ordered[:, half]) / 2
    least = ordered[:, 0]
    spread = ordered[:, -1] - least
    return np.stack([median, least, spread], axis=1)
