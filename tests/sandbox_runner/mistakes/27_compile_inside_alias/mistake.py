# device: cpu
# code: compile_inside
import torch
from torch import compile as quicken


def raised(v):
    return v.exp() + 1


v = torch.rand(100)


def run(rows):
    return quicken(raised, backend="eager")(rows)


run(v)
