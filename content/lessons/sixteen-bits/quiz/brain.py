import torch

x = torch.tensor(257.0, dtype=torch.bfloat16)
print(x.item())
