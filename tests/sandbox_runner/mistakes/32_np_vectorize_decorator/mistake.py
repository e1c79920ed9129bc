# device: cpu
# code: np_vectorize
import numpy as xp


@xp.vectorize
def clipped(v):
    return v if v > 0.5 else 0.5


samples = xp.random.default_rng(0).random(3000)

clipped(samples)
