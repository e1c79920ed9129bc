# device: cpu
# code: none
import numpy as np

rng = np.random.default_rng(0)
a = rng.random((40, 50))
b = rng.random((50, 30))

np.einsum("ij,jk->ik", a, b)
