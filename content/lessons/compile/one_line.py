import torch

graphs = []


def record(graph_module, inputs):
    graphs.append(graph_module)
    return graph_module.forward


def double(x):
    return x * 2


fast = torch.compile(double, backend=record)
print("after torch.compile:", len(graphs))
fast(torch.ones(3))
print("after the first call:", len(graphs))
fast(torch.zeros(3))
print("after the second call:", len(graphs))
