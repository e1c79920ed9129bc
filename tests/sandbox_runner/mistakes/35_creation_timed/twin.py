# device: cpu
# code: creation_timed
import numpy as np

rng = np.random.default_rng(0)
x = rng.random(50_000)

x.sum()
