# device: cpu
# code: none
import numpy as np

rng = np.random.default_rng(0)
x = rng.random(4096)

sum(x[i : i + 256].sum() for i in range(0, 4096, 256))
