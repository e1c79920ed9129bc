import torch

w = torch.tensor(1.0, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.5)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)

scaler.scale(w * float("inf")).backward()
scaler.step(opt)
scaler.update()
print(w.item(), scaler.get_scale())
