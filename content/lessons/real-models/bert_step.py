import torch
from torch.nn.functional import cross_entropy
from transformers import BertConfig, BertModel

gpu = torch.cuda.is_available()
device = "cuda" if gpu else "cpu"
torch.manual_seed(0)
config = BertConfig(
    vocab_size=100,
    hidden_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=128,
)
bert = BertModel(config).to(device)
head = torch.nn.Linear(64, 2).to(device)
weights = [*bert.parameters(), *head.parameters()]
opt = torch.optim.AdamW(weights, lr=2e-3)

ids = torch.randint(1, 100, (16, 12), device=device)
mask = torch.ones_like(ids)
mask[:, 8:] = 0
labels = ids[:, 0] % 2
losses = []
for _ in range(20):
    opt.zero_grad()
    with torch.amp.autocast(device, dtype=torch.bfloat16):
        out = bert(ids, attention_mask=mask)
        guess = head(out.pooler_output)
        loss = cross_entropy(guess, labels)
    loss.backward()
    opt.step()
    losses.append(loss.item())
print(guess.dtype, loss.dtype, weights[0].dtype)
print("fell:", losses[-1] < losses[0] / 2)
