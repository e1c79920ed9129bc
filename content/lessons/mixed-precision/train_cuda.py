# %% setup
import sys

import torch
from torch import nn

if not torch.cuda.is_available():
    sys.exit("needs a CUDA GPU")
torch.manual_seed(0)
model = nn.Sequential(
    nn.Linear(4096, 16384),
    nn.ReLU(),
    nn.Linear(16384, 4096),
).cuda()
opt = torch.optim.SGD(model.parameters(), lr=0.0)
scaler = torch.amp.GradScaler("cuda")
x = torch.randn(4096, 4096, device="cuda")


def forward():
    out = model(x)
    return out, out.float().pow(2).mean()


# %% float32
opt.zero_grad()
out, loss = forward()
loss.backward()
opt.step()
out.detach()

# %% bfloat16
opt.zero_grad()
with torch.amp.autocast("cuda", dtype=torch.bfloat16):
    out, loss = forward()
loss.backward()
opt.step()
out.detach()

# %% float16
opt.zero_grad()
with torch.amp.autocast("cuda", dtype=torch.float16):
    out, loss = forward()
scaler.scale(loss).backward()
scaler.step(opt)
scaler.update()
out.detach()
