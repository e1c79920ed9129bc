# device: cpu
# code: denormals
import numpy as np

rng = np.random.default_rng(0)
x = rng.random(100_000, dtype=np.float32)

x * np.float32(0.5)
