# device: cpu
# code: none
import numpy as np

rng = np.random.default_rng(0)
x = rng.random(5000)
out = np.empty_like(x)

np.multiply(x, 2, out=out)
