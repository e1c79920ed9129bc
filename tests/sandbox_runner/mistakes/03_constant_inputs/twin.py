# device: cpu
# code: constant_inputs
import numpy as np

rng = np.random.default_rng(0)
x = rng.random(200_000)

np.sort(x)
