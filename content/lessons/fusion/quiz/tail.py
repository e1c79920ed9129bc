import numpy as np

n, BLOCK = 1000, 256
pid = 3

i = pid * BLOCK + np.arange(BLOCK)
mask = i < n
print(int(mask.sum()))
