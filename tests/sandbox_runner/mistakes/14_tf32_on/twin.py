# device: gpu
# code: tf32_on
# %% setup
import torch
from torch.nn import functional

torch.backends.cudnn.allow_tf32 = False
x = torch.randn(32, 64, 64, 64, device="cuda")
w = torch.randn(64, 64, 3, 3, device="cuda")
xh, wh = x.bfloat16(), w.bfloat16()

# %% float32
functional.conv2d(x, w)

# %% bfloat16
functional.conv2d(xh, wh)
