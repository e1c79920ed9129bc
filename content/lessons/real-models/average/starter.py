import numpy as np


def make(rng, n):
    return {"grads": rng.normal(size=(4, n))}


def solve(grads):
    ranks, n = grads.shape
    mean = np.zeros(n)
    for i in range(n):
        for rank in range(ranks):
            mean[i] += grads[rank, i]
        mean[i] /= ranks
    return mean
