import torch

w = torch.tensor(1.0, dtype=torch.bfloat16)
w -= 0.001
print(w.item())
