# device: cpu
# code: view_only
import numpy as np

rng = np.random.default_rng(0)
x = rng.random((300, 300))

x.T
