# device: gpu
# code: h2d_copy
# %% setup
import numpy as np
import torch

device = torch.device("cuda")
rows = torch.as_tensor(np.random.default_rng(0).random((4000, 4000), dtype="float32"), device=device)


def norm(values):
    return values.square().sum().sqrt()


# %% norm
norm(rows)
