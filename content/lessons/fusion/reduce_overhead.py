# %% setup
import numpy as np
import torch

n = 1024


def step(x, w):
    for _ in range(20):
        x = torch.tanh(x @ w)
    return x


def make(rng, n):
    x = rng.normal(size=(8, n)).astype("float32")
    w = rng.normal(size=(n, n)).astype("float32")
    w /= n**0.5
    found = {"x": x, "w": w}
    for name, each in found.items():
        found[name] = torch.from_numpy(each).to("cuda")
    return found


made = make(np.random.default_rng(0), n)
x, w = made["x"], made["w"]
default = torch.compile(step)
graphs = torch.compile(step, mode="reduce-overhead")

# %% eager
step(x, w)

# %% default
default(x, w)

# %% reduce-overhead
graphs(x, w).clone()
