# %% setup
import numpy as np
import torch


def tiny(a, b):
    return a + b


guarded = torch.compile(tiny, backend="eager")


def make(rng, n):
    a, b = torch.from_numpy(rng.random((2, 4)))
    return {"a": a, "b": b}


made = make(np.random.default_rng(0), 4)
a, b = made["a"], made["b"]

# %% plain
tiny(a, b)

# %% guarded
guarded(a, b)
