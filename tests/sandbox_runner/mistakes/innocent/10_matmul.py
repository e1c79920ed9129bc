# device: cpu
# code: none
import numpy as np

rng = np.random.default_rng(0)
a = rng.random((80, 80))
b = rng.random((80, 80))

a @ b
