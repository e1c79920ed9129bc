# device: cpu
# code: scaler_skipped
import torch


class Skipping:
    def __init__(self):
        self.w = torch.zeros(5, requires_grad=True)
        self.opt = torch.optim.SGD([self.w], lr=0.0)
        self.scaler = torch.amp.GradScaler("cpu")

    def step(self):
        self.opt.zero_grad()
        loss = self.w.sqrt().sum()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.opt)
        self.scaler.update()
        return loss.detach()


trainer = Skipping()

trainer.step()
