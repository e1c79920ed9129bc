# device: cpu
# code: input_changed
# %% setup
import numpy as np

x = np.random.default_rng(0).random(2000)

# %% add
y = x + 1
y
