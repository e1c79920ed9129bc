import numpy as np

x = np.ones((2000, 1000))
y = x.T
print(np.shares_memory(x, y))
