# %% setup
import numpy as np
import torch

n = 16
cut = torch._dynamo.graph_break


def one_graph(x):
    return torch.relu(x * 2 + 1) - 0.5


def three_graphs(x):
    y = x * 2 + 1
    cut()
    z = torch.relu(y)
    cut()
    return z - 0.5


def make(rng, n):
    return {"x": torch.from_numpy(rng.normal(size=n))}


x = make(np.random.default_rng(0), n)["x"]
plain = one_graph
one = torch.compile(one_graph, backend="eager")
three = torch.compile(three_graphs, backend="eager")

# %% plain
plain(x)

# %% one graph
one(x)

# %% three graphs
three(x)
