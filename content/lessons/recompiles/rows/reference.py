import torch


def make(rng, n):
    return {"x": torch.from_numpy(rng.normal(size=(n, 8)))}


@torch.compile(backend="eager", fullgraph=True)
def solve(x):
    positive = x.sum(dim=1, keepdim=True) > 0
    return torch.where(positive, x * 2, x - 1)
