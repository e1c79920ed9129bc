import torch
from torch import Tensor
from torch.utils import _python_dispatch as dispatch


class Passes(dispatch.TorchDispatchMode):
    count = 0

    def __torch_dispatch__(self, op, _, args=(), kw=None):
        reads = [a for a in args if isinstance(a, Tensor)]
        self.count += len(reads) + 1
        return op(*args, **(kw or {}))


def chain(x):
    y = (x + 1) * 0.5
    y = y.abs().clamp(max=0.9)
    return y.sqrt() * y


x = torch.ones(1000)
with Passes() as passes:
    chain(x)

print(passes.count, 2, passes.count / 2)
