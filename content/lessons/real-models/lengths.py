# %% setup
import numpy as np
import torch
from transformers import BertConfig, BertModel

gpu = torch.cuda.is_available()
device = "cuda" if gpu else "cpu"
real, padded = 32, 128
batch = 256 if gpu else 8

torch.manual_seed(0)
config = BertConfig(
    hidden_size=256,
    num_hidden_layers=2,
    num_attention_heads=8,
    intermediate_size=512,
)
bert = BertModel(config).eval().to(device)
bert.requires_grad_(requires_grad=False)


def make(rng, n):
    ids = np.zeros((batch, padded), dtype=np.int64)
    ids[:, :real] = rng.integers(1, 30000, (batch, real))
    long = torch.from_numpy(ids).to(device)
    return {"long": long, "mask": (long > 0).long()}


made = make(np.random.default_rng(0), batch)
long, mask = made["long"], made["mask"]

# %% trimmed
end = int(mask.sum(dim=1).max())
bert(
    long[:, :end],
    attention_mask=mask[:, :end],
).pooler_output

# %% padded
bert(long, attention_mask=mask).pooler_output
