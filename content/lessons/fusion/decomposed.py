import torch
from torch._inductor.decomposition import decompositions
from torch.fx.experimental.proxy_tensor import make_fx


def softmax(x):
    return torch.softmax(x, dim=1)


x = torch.rand(4, 8)
traced = make_fx(softmax, decompositions)(x)
for node in traced.graph.nodes:
    if node.op == "call_function":
        print(node.target)
