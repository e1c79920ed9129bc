# %% setup
import copy

import numpy as np
import torch
from transformers import BertConfig, BertModel

gpu = torch.cuda.is_available()
device = "cuda" if gpu else "cpu"
length, batch = (512, 32) if gpu else (256, 4)

torch.manual_seed(0)
config = BertConfig(
    hidden_size=256,
    num_hidden_layers=2,
    num_attention_heads=8,
    intermediate_size=512,
)
ready = BertModel(config).eval().to(device)
ready.requires_grad_(requires_grad=False)
ready.set_attn_implementation("sdpa")
by_hand = copy.deepcopy(ready)
by_hand.set_attn_implementation("eager")


def make(rng, n):
    ids = rng.integers(1, 30000, (batch, length))
    return {"ids": torch.from_numpy(ids).to(device)}


ids = make(np.random.default_rng(0), batch)["ids"]

# %% eager
by_hand(ids).pooler_output

# %% sdpa
ready(ids).pooler_output
