# device: cpu
# code: page_faults
# %% setup
import numpy as np

n = 6_000_000
one, two = np.zeros(n), np.zeros(n)

# %% first
one.fill(1)
one

# %% second
two = np.empty(n)
two.fill(1)
two
