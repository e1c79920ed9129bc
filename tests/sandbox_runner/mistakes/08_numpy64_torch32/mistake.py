# device: cpu
# code: numpy64_torch32
# %% setup
import numpy as np
import torch

x = np.random.default_rng(0).random(10_000)
t = torch.from_numpy(x).float()

# %% numpy
x * x + 1

# %% torch
t * t + 1
