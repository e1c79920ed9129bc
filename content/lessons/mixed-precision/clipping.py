import torch
from torch.nn.utils import clip_grad_norm_


def clipped(unscale_first):
    w = torch.ones(2, requires_grad=True)
    opt = torch.optim.SGD([w], lr=1.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    loss = (w * torch.tensor([3.0, 4.0])).sum()
    scaler.scale(loss).backward()
    if unscale_first:
        scaler.unscale_(opt)
    clip_grad_norm_([w], 1.0)
    scaler.step(opt)
    return [round(1 - value, 4) for value in w.tolist()]


print(clipped(unscale_first=True))
print(clipped(unscale_first=False))
