import torch


def make(rng, n):
    return {"x": torch.from_numpy(rng.normal(size=(n, 8)))}


@torch.compile(backend="eager")
def solve(x):
    out = []
    for row in x:
        if row.sum().item() > 0:
            out.append(row * 2)
        else:
            out.append(row - 1)
    return torch.stack(out)
