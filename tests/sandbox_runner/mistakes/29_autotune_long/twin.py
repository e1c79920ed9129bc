# device: gpu
# code: autotune_long
# %% setup
import torch

a = torch.randn(512, 512, device="cuda")


def product(x):
    return torch.relu(x @ x)


fast = torch.compile(product)

# %% eager
product(a)

# %% compiled
fast(a)
