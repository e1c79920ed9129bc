# device: cpu
# code: none
import numpy as np

rng = np.random.default_rng(0)
x = rng.standard_normal(5000)

x[x > 0].sum()
