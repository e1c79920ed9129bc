# device: cpu
# code: none
import numpy as np

rng = np.random.default_rng(0)
values = rng.random(500).tolist()

[v * 2 for v in values]
