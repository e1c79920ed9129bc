import torch

x = torch.ones(4, 4)
with torch.amp.autocast("cpu", dtype=torch.bfloat16):
    y = x @ x + x
print(y.dtype)
