import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 8)
target = x.sum(1, keepdim=True)
model = nn.Linear(8, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)

losses = []
for _ in range(20):
    opt.zero_grad()
    with torch.amp.autocast("cpu", dtype=torch.bfloat16):
        out = model(x)
        loss = nn.functional.mse_loss(out, target)
    loss.backward()
    opt.step()
    losses.append(loss.item())

print(out.dtype, loss.dtype)
print(model.weight.dtype, model.weight.grad.dtype)
print(losses[-1] < losses[0] / 10)
