# device: cpu
# code: scaler_bf16
import torch
from torch import nn
from torch.amp import GradScaler, autocast

KIND = torch.bfloat16
net = nn.Linear(64, 8)
opt = torch.optim.SGD(net.parameters(), lr=0.0)
grads = GradScaler("cpu", init_scale=8.0)
x = torch.randn(128, 64)


def step():
    opt.zero_grad()
    with autocast("cpu", dtype=KIND):
        loss = net(x).float().pow(2).mean()
    grads.scale(loss).backward()
    grads.step(opt)
    grads.update()
    return loss.detach()


step()
