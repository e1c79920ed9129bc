import math

import numpy as np


def make(rng, n):
    w = rng.normal(size=n).astype(np.float32)
    grads = rng.normal(size=n).astype(np.float32) * 1024
    if rng.random() < 0.5:
        grads[rng.integers(n)] = np.inf
    return {"w": w, "grads": grads, "scale": 1024.0}


def solve(w, grads, scale):
    bad = 0
    for g in grads:
        if not math.isfinite(g):
            bad += 1
    if bad:
        return w.copy()
    out = np.empty_like(w)
    for i in range(len(w)):
        out[i] = w[i] - 0.1 * (grads[i] / scale)
    return out
