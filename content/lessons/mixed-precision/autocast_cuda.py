import sys

import torch
from torch.nn import functional

if not torch.cuda.is_available():
    sys.exit("needs a CUDA GPU")
x = torch.rand(4, 4, device="cuda")
w = torch.rand(4, 4, device="cuda")

with torch.amp.autocast("cuda", dtype=torch.float16):
    y = functional.linear(x, w)
    print("linear", y.dtype)
    print("x @ w", (x @ w).dtype)
    print("relu", torch.relu(y).dtype)
    print("y + x", (y + x).dtype)
    print("softmax", torch.softmax(y, -1).dtype)
    print("exp", torch.exp(y).dtype)
    print("sum", y.sum().dtype)
    z = functional.layer_norm(y, (4,))
    print("layer_norm", z.dtype)
    print("mse_loss", functional.mse_loss(y, x).dtype)

print("weight", w.dtype)
