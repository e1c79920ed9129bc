# device: cpu
# code: none
import numpy as np

rng = np.random.default_rng(0)
x = rng.random((60, 60))

x.T.copy()
