# device: cpu
# code: grads_grow
import torch
from torch import nn


class Growing:
    def __init__(self):
        self.net = nn.Linear(50, 50)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=1e-9)
        self.rows = torch.randn(20, 50)

    def step(self):
        loss = self.net(self.rows).square().mean()
        loss.backward()
        self.opt.step()
        return loss.item()


trainer = Growing()

trainer.step()
