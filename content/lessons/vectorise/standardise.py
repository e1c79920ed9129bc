# %% setup
import numpy as np

n = 1_000


def make(rng, n):
    return {"t": rng.random((n, 64)) * 50 + 10}


t = make(np.random.default_rng(0), n)["t"]

# %% loops
out = np.empty_like(t)
for j in range(t.shape[1]):
    mean = t[:, j].mean()
    spread = t[:, j].std()
    for i in range(t.shape[0]):
        out[i, j] = (t[i, j] - mean) / spread
out

# %% columns
out = np.empty_like(t)
for j in range(t.shape[1]):
    one = t[:, j]
    out[:, j] = (one - one.mean()) / one.std()
out

# %% whole
(t - t.mean(axis=0)) / t.std(axis=0)
