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
    true = grads / scale
    norm = float(np.linalg.norm(true))
    return true * min(1.0, top / norm)
