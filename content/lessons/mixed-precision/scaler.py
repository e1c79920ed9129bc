import torch

w = torch.ones(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.5)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)

loss = (w * torch.tensor([3.0, 4.0, 0.0])).sum()
scaler.scale(loss).backward()
print(w.grad.tolist())

scaler.unscale_(opt)
print(w.grad.tolist())

scaler.step(opt)
scaler.update()
print(w.tolist(), scaler.get_scale())
