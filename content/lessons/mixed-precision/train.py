import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

cuda = torch.cuda.is_available()
device = "cuda" if cuda else "cpu"
torch.manual_seed(0)
x = torch.randn(64, 8, device=device)
target = x.sum(1, keepdim=True)
model = nn.Linear(8, 1).to(device)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler(device, init_scale=1024.0)

losses = []
for _ in range(100):
    opt.zero_grad()
    with torch.amp.autocast(device, dtype=torch.float16):
        out = model(x)
        loss = nn.functional.mse_loss(out, target)
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
    losses.append(loss.item())

print(out.dtype, loss.dtype, model.weight.dtype)
print(losses[-1] < losses[0] / 10)
print(scaler.get_scale())
