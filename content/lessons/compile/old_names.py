import torch


def double(x):
    return x * 2


for name in ("aot_cudagraphs", "nvfuser", "inductor"):
    try:
        torch.compile(double, backend=name)
        print(name, "known")
    except Exception as error:
        print(name, type(error).__name__)
