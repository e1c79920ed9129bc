# device: gpu
# code: tf32_off
# %% setup
import torch

torch.set_float32_matmul_precision("high")
a = torch.randn(4096, 4096, device="cuda")
h = a.bfloat16()

# %% float32
a @ a

# %% bfloat16
h @ h
