# device: cpu
# code: in_cache
import numpy as np

rng = np.random.default_rng(0)
x = rng.random(9_000_000)

x.max()
