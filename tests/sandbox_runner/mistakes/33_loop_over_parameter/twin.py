# device: cpu
# code: loop_over_array
# %% setup
import numpy as np

x = np.random.default_rng(0).random(50_000)
xs = x.tolist()


def slow(a):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * a[i]
    return total


# %% loop
slow(xs)
