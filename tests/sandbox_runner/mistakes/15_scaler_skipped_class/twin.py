# device: cpu
# code: scaler_skipped
import torch


class Stepping:
    def __init__(self):
        self.w = torch.ones(5, requires_grad=True)
        self.opt = torch.optim.SGD([self.w], lr=0.0)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=4.0)

    def step(self):
        self.opt.zero_grad()
        loss = self.w.sqrt().sum()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.opt)
        self.scaler.update()
        return loss.detach()


trainer = Stepping()

trainer.step()
