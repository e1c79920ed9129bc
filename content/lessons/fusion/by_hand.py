# %% setup
import numpy as np

n = 8_000_000
BLOCK = 16_384
out = np.empty(n, dtype=np.float32)


def make(rng, n):
    return {"x": rng.random(n, dtype=np.float32)}


x = make(np.random.default_rng(0), n)["x"]

# %% passes
y = out[: len(x)]
np.multiply(x, 2, out=y)
np.add(y, 1, out=y)
np.negative(y, out=y)
np.abs(y, out=y)
y

# %% blocks
y = out[: len(x)]
for i in range(0, len(x), BLOCK):
    part = y[i : i + BLOCK]
    np.multiply(x[i : i + BLOCK], 2, out=part)
    np.add(part, 1, out=part)
    np.negative(part, out=part)
    np.abs(part, out=part)
y
