# %% setup
import sys

import torch
from torch import nn

if not torch.cuda.is_available():
    sys.exit("needs a CUDA GPU")
torch.manual_seed(0)
model = nn.Sequential(
    nn.Linear(512, 2048),
    nn.ReLU(),
    nn.Linear(2048, 512),
).cuda()
x = torch.randn(256, 512, device="cuda")

# %% float32
with torch.inference_mode():
    out = model(x)
out

# %% autocast
with (
    torch.inference_mode(),
    torch.amp.autocast("cuda", dtype=torch.bfloat16),
):
    out = model(x)
out
