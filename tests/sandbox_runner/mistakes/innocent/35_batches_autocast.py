import torch
from torch import nn

net = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256))
opt = torch.optim.SGD(net.parameters(), lr=1e-9)
batches = [torch.randn(256, 256) for _ in range(3)]


def epoch():
    for rows in batches:
        opt.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = net(rows).float().pow(2).mean()
        loss.backward()
        opt.step()
    return 1


epoch()
