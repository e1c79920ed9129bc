# device: cpu
# code: scaler_bf16
import torch
from torch import nn
from torch.amp import autocast

KIND = torch.bfloat16
net = nn.Linear(512, 512)
opt = torch.optim.SGD(net.parameters(), lr=0.0)
x = torch.randn(512, 512)


def step():
    opt.zero_grad()
    with autocast("cpu", dtype=KIND):
        loss = net(x).float().pow(2).mean()
    loss.backward()
    opt.step()
    return loss.detach()


step()
