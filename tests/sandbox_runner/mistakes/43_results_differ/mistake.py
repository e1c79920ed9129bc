# device: cpu
# code: results_differ
# %% setup
import numpy as np

x = np.random.default_rng(0).random(10_000)

# %% right
x * x

# %% fast
x * 0.5
