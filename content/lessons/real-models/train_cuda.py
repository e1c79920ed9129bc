# %% setup
import sys

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from transformers import ResNetConfig, ResNetModel

if not torch.cuda.is_available():
    sys.exit("needs a CUDA GPU")
torch.manual_seed(0)
body = ResNetModel(ResNetConfig()).cuda()
head = nn.Linear(2048, 1000).cuda()
weights = [*body.parameters(), *head.parameters()]
opt = torch.optim.SGD(weights, lr=0.0)
fast = torch.compile(body)
x = torch.randn(64, 3, 224, 224, device="cuda")
labels = torch.randint(1000, (64,), device="cuda")


def step(model, dtype):
    opt.zero_grad()
    low = dtype != torch.float32
    with torch.amp.autocast("cuda", dtype, enabled=low):
        features = model(x).pooler_output.flatten(1)
        loss = cross_entropy(head(features), labels)
    loss.backward()
    opt.step()
    return loss.detach().to(dtype)


# %% float32
step(body, torch.float32)

# %% bfloat16
step(body, torch.bfloat16)

# %% compiled
step(fast, torch.bfloat16)
