# %% setup
import copy
import sys

import torch
from torch import nn

count = torch.cuda.device_count()
if count < 2:
    sys.exit("needs 2 GPUs")
cards = [torch.device("cuda", i) for i in range(count)]
first = cards[0]
torch.manual_seed(0)
net = nn.Sequential(
    nn.Linear(4096, 16384),
    nn.GELU(),
    nn.Linear(16384, 4096),
)
net = net.requires_grad_(requires_grad=False).bfloat16()
copies = [copy.deepcopy(net).to(card) for card in cards]
x = torch.randn(8192 * count, 4096).bfloat16().to(first)
pieces = x.chunk(count)
pairs = zip(pieces, cards, strict=True)
parts = [part.to(card) for part, card in pairs]

# %% one card
copies[0](x)

# %% all cards
pairs = zip(copies, parts, strict=True)
outs = [model(part) for model, part in pairs]
torch.cat([out.to(first) for out in outs])
