# device: cpu
# code: none
import numpy as np

rng = np.random.default_rng(0)
x = rng.random(5000, dtype=np.float32)

x * 2.0 + 1.0
