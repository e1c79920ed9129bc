import torch


def show(graph_module, inputs):
    for node in graph_module.graph.nodes:
        print(node.op, node.name)
    return graph_module.forward


def chain(x):
    return torch.sin(x * 0.5) + 1.0


fast = torch.compile(chain, backend=show)
fast(torch.ones(3))
fast(torch.zeros(3))
print("called twice")
