# device: cpu
# code: compile_inside
import torch


def double(x):
    return x * 2


x = torch.rand(1000)
fast = torch.compile(double, backend="eager")

torch.compile(double, backend="eager")(x)
