# device: cpu
# code: grads_grow
import torch

w = torch.ones(1000, requires_grad=True)


def step():
    if w.grad is not None:
        w.grad.zero_()
    loss = (w * w).sum()
    loss.backward()
    return loss.detach()


step()
