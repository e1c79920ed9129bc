# device: cpu
# code: none
import numpy as np

rng = np.random.default_rng(0)
x = rng.random(3000, dtype=np.float32)

x.mean(dtype=np.float64)
