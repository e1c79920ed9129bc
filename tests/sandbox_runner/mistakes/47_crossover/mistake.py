# device: gpu
# code: crossover
# %% setup
import numpy as np
import torch

n = 1000


def make(rng, n):
    x = torch.from_numpy(rng.random(n, dtype="float32"))
    return {"x": x, "g": x.cuda()}


made = make(np.random.default_rng(0), n)
x, g = made["x"], made["g"]

# %% cpu
x * 2 + 1

# %% gpu
g * 2 + 1
