import torch
from torch.nn import functional

x, w = torch.rand(4, 4), torch.rand(4, 4)
down = torch.bfloat16

with torch.amp.autocast("cpu", dtype=down):
    y = functional.linear(x, w)
    print("linear", y.dtype)
    print("x @ w", (x @ w).dtype)
    print("relu", torch.relu(y).dtype)
    print("softmax", torch.softmax(y, -1).dtype)
    print("y + x", (y + x).dtype)
    print("mse_loss", functional.mse_loss(y, x).dtype)
    print("x + w", (x + w).dtype)

print("weight", w.dtype)
