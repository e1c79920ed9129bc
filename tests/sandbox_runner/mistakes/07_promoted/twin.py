# device: cpu
# code: promoted
import numpy as np

rng = np.random.default_rng(0)
x = rng.random(100_000, dtype=np.float32)
scale = np.float32(2.0)

x * scale + x
