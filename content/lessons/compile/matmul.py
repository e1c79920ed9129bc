# %% setup
import numpy as np
import torch

size = 4096


def product(a, b):
    return a @ b


compiled = torch.compile(product)


def make(rng, n):
    a, b = rng.standard_normal((2, size, size), dtype="f4")
    a = torch.from_numpy(a).cuda()
    return {"a": a, "b": torch.from_numpy(b).cuda()}


made = make(np.random.default_rng(0), size)
a, b = made["a"], made["b"]

# %% eager
product(a, b)

# %% compiled
compiled(a, b)
