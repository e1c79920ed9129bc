# device: gpu
# code: tf32_off
# %% setup
import torch
from torch import nn

torch.backends.cuda.matmul.allow_tf32 = True
net = nn.Linear(4096, 4096, bias=False).cuda().requires_grad_(False)
x = torch.randn(4096, 4096, device="cuda")

# %% full
net(x)

# %% autocast
with torch.autocast("cuda", dtype=torch.bfloat16):
    out = net(x)
out
