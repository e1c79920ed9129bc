import torch


def add(x):
    return x + 1


fast = torch.compile(add, backend="eager")
fast(torch.ones(8))

with torch.compiler.set_stance("fail_on_recompile"):
    print(fast(torch.ones(8)).sum())
    try:
        fast(torch.ones(9))
    except RuntimeError as error:
        print("size mismatch" in str(error))
