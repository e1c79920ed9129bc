# device: cpu
# code: loop_over_array
# %% setup
import numpy as np

x = np.random.default_rng(0).random(2000)
values = x.tolist()

# %% loop
total = 0.0
for v in x:
    total += v * v
total
