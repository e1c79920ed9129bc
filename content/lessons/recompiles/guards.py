import torch
from torch._dynamo.utils import counters


def scale(x, k):
    return x * k


fast = torch.compile(scale, backend="eager")
x = torch.ones(8)


def call(what, x, k=2):
    before = counters["stats"]["unique_graphs"]
    fast(x, k)
    after = counters["stats"]["unique_graphs"]
    print(what, after - before)


call("first", x)
call("other values", x + 5)
call("other length", torch.ones(9))
call("a third length", torch.ones(10))
call("float64", x.double())
call("two axes", torch.ones(2, 4))
call("needs grad", x.clone().requires_grad_())
call("other number", x, 3)
