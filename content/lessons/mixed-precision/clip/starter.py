import math

import numpy as np


def make(rng, n):
    size = 1024 * 10.0 ** rng.uniform(-2, 2)
    grads = rng.normal(size=n) * size / math.sqrt(n)
    return {
        "grads": grads.astype(np.float32),
        "scale": 1024.0,
        "top": 1.0,
    }


def solve(grads, scale, top):
    total = 0.0
    for g in grads:
        total += (float(g) / scale) ** 2
    factor = min(1.0, top / math.sqrt(total))
    out = np.empty_like(grads)
    for i in range(len(grads)):
        out[i] = grads[i] / scale * factor
    return out
