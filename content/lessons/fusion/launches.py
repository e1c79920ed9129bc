# %% setup
import numpy as np
import torch

n = 1024


def step(x):
    for _ in range(40):
        x = torch.relu(x * 0.5 + 0.25)
    return x


def make(rng, n):
    x = torch.from_numpy(rng.random(n, dtype="float32"))
    x = x.to("cuda")
    graph = torch.cuda.CUDAGraph()
    step(x)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        y = step(x)
    return {"x": x, "graph": graph, "y": y}


made = make(np.random.default_rng(0), n)
x, graph, y = made["x"], made["graph"], made["y"]

# %% eager
step(x)

# %% graph
graph.replay()
y
