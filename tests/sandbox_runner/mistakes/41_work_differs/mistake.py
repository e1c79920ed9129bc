# device: cpu
# code: work_differs
# %% setup
import numpy as np

x = np.random.default_rng(0).random(10_000)
y = x[:5_000].copy()

# %% first
np.sqrt(x)

# %% second
np.sqrt(y)
