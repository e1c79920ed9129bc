import numpy as np

a = np.ones((3, 1))
b = np.ones((1, 4))
print((a + b).shape)
