import torch

w = torch.tensor(1.0, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.01)
scaler = torch.amp.GradScaler(
    "cpu",
    init_scale=2.0**16,
    growth_interval=3,
)

for _ in range(8):
    opt.zero_grad()
    before = w.item()
    loss = (w.half() * 4).float()
    used = scaler.get_scale()
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
    done = "step" if w.item() != before else "skip"
    print(int(used), done, int(scaler.get_scale()))
