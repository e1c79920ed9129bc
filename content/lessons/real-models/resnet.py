# %% setup
import copy

import numpy as np
import torch
from transformers import ResNetConfig, ResNetModel

gpu = torch.cuda.is_available()
device = "cuda" if gpu else "cpu"
size, batch = (224, 64) if gpu else (64, 4)

torch.manual_seed(0)
config = ResNetConfig(
    layer_type="basic",
    depths=[2, 2, 2, 2],
    hidden_sizes=[64, 128, 256, 512],
)
plain = ResNetModel(config).eval().to(device)
plain.requires_grad_(requires_grad=False)
last = torch.channels_last
ordered = copy.deepcopy(plain).to(memory_format=last)
half = copy.deepcopy(plain).to(torch.bfloat16)


def make(rng, n):
    x = rng.standard_normal((batch, 3, size, size))
    x = torch.from_numpy(x).to(device, torch.float32)
    y = x.contiguous(memory_format=last)
    return {"x": x, "y": y, "x16": x.to(torch.bfloat16)}


made = make(np.random.default_rng(0), batch)
x, y, x16 = made["x"], made["y"], made["x16"]

# %% float32
plain(x).pooler_output

# %% channels_last
ordered(y).pooler_output

# %% bfloat16
half(x16).pooler_output
