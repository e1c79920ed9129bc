# %% setup
import numpy as np
import torch

n = 512


def make(rng, n):
    a = torch.from_numpy(rng.random((n, n)) < 0.3)
    b = torch.from_numpy(rng.random((n, n)) < 0.3)
    return {
        "a32": a.float(),
        "b32": b.float(),
        "a16": a.bfloat16(),
        "b16": b.bfloat16(),
    }


made = make(np.random.default_rng(0), n)
a32, b32 = made["a32"], made["b32"]
a16, b16 = made["a16"], made["b16"]

# %% float32
a32 @ b32

# %% bfloat16
(a16 @ b16).float()
