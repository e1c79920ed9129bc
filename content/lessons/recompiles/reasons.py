import torch

torch._logging.set_logs(recompiles=True)


def scale(x, k):
    return x * k


fast = torch.compile(scale, backend="eager")
fast(torch.ones(8), 2)
fast(torch.ones(9), 2)
fast(torch.ones(9), 3)
print("reasons are on standard error")
