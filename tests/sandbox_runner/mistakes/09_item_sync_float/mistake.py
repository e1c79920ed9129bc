# device: gpu
# code: item_sync
# %% setup
import torch
from torch import nn

net = nn.Linear(256, 10).cuda()
x = torch.randn(512, 256, device="cuda")
y = torch.randint(0, 10, (512,), device="cuda")
lossf = nn.CrossEntropyLoss()

# %% epoch
history = []
with torch.no_grad():
    for _ in range(20):
        loss = lossf(net(x), y)
        history.append(float(loss))
history
