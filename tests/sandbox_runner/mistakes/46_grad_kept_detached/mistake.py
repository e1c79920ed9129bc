# device: cpu
# code: grad_kept
import torch
from torch import nn


class Labels:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).eval()

    def of(self, rows):
        return self.net(rows).argmax(dim=1)


labels = Labels()
batch = torch.randn(32, 64)

labels.of(batch)
