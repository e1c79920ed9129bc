import torch


def make(rng, n):
    return {"x": torch.from_numpy(rng.normal(size=(n, 64)))}


def solve(x):
    functional = torch.nn.functional
    z = functional.layer_norm(x, (64,), eps=1e-5)
    return functional.gelu(z, approximate="tanh")
