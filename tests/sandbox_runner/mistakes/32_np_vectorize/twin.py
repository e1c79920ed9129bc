# device: cpu
# code: np_vectorize
import numpy as np

rng = np.random.default_rng(0)
x = rng.random(2000)


def square(v):
    return v * v


square(x)
