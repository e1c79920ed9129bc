import torch


def make(rng, n):
    return {"x": torch.from_numpy(rng.normal(size=(n, 64)))}


def solve(x):
    mean = x.mean(dim=1, keepdim=True)
    centred = x - mean
    var = (centred * centred).mean(dim=1, keepdim=True)
    z = centred / torch.sqrt(var + 1e-5)
    inner = 0.7978845608028654 * (z + 0.044715 * z**3)
    return 0.5 * z * (1 + torch.tanh(inner))
