# %% setup
import numpy as np
import torch

n = 200


def make(rng, n):
    lengths = rng.integers(1, 33, size=n).tolist()
    made = [rng.random(length) for length in lengths]
    return {"parts": [torch.from_numpy(x) for x in made]}


parts = make(np.random.default_rng(0), n)["parts"]
pad = torch.nn.utils.rnn.pad_sequence


def score(x):
    return (torch.tanh(x * 2) * x).sum(-1)


# %% one by one
torch.stack([score(part) for part in parts])

# %% padded batch
score(pad(parts, batch_first=True))
