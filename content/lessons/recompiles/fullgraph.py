import torch


def branch(x):
    if x.sum() > 0:
        return x * 2
    return x - 1


def select(x):
    return torch.where(x.sum() > 0, x * 2, x - 1)


for function in (branch, select):
    whole = torch.compile(
        function,
        backend="eager",
        fullgraph=True,
    )
    try:
        print(function.__name__, whole(torch.ones(4)))
    except torch._dynamo.exc.Unsupported as error:
        print(function.__name__, type(error).__name__)
