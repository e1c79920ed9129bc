# device: cpu
# code: recompiled
import torch


def raised(v):
    return v.relu() + 1


one = torch.compile(raised, backend="eager")
two = torch.compile(raised, backend="eager", fullgraph=True)
three = torch.compile(raised, backend="aot_eager")
v = torch.randn(4, 3)

one(v) + two(v) + three(v)
