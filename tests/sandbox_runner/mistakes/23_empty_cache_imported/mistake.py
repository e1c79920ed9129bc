# device: gpu
# code: empty_cache
# %% setup
import gc

import torch
from torch.cuda import empty_cache

x = torch.randn(3000, 3000, device="cuda")


def tidy():
    gc.collect()
    empty_cache()


# %% rows
best = (x.abs() + 1).log().max(dim=1).values
tidy()
best
