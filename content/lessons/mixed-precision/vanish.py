import torch


def grad_of(kind, scale):
    w = torch.tensor(1.0, dtype=kind, requires_grad=True)
    loss = (w * 1e-4 * 1e-4).float()
    (loss * scale).backward()
    return w.grad.float().item() / scale


print(grad_of(torch.float16, 1))
print(grad_of(torch.float16, 1024))
print(grad_of(torch.bfloat16, 1))
