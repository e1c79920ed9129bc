import torch
from torch._dynamo.exc import InvalidBackend


def double(x):
    return x * 2


for name in ("aot_cudagraphs", "nvfuser", "inductor"):
    try:
        torch.compile(double, backend=name)
        print(name, "known")
    except InvalidBackend as error:
        print(name, type(error).__name__)
