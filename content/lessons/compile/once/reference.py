import torch


def make(rng, n):
    return {"x": torch.from_numpy(rng.random(n))}


def chain(v):
    return torch.sin(v) * v + 1.0


fast = torch.compile(chain, backend="eager")


def solve(x):
    return fast(x).numpy()
