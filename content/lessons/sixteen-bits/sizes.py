import numpy as np
import torch

print(np.dtype(np.float32).itemsize)
print(np.dtype(np.float16).itemsize)
print(torch.bfloat16.itemsize)

weights = 7_000_000_000
for size in (4, 2):
    print(weights * size / 1e9, "GB")
