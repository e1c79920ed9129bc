# device: gpu
# code: h2d_copy
# %% setup
import numpy as np
import torch

device = torch.device("cuda")
rows = np.random.default_rng(0).random((4000, 4000), dtype="float32")


def norm(values):
    return torch.as_tensor(values, device=device).square().sum().sqrt()


# %% norm
norm(rows)
