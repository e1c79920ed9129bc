# device: cpu
# code: recompiled
import torch


def raised(v):
    return v.relu() + 1


one = torch.compile(raised, backend="eager")
two = torch.compile(raised, backend="eager", dynamic=True)
three = torch.compile(raised, backend="eager", dynamic=False)
v = torch.randn(4, 3)

one(v) + two(v) + three(v)
