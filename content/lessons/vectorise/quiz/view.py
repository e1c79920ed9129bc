import numpy as np

x = np.array([1, 2, 3, 4])
y = x[::2]
y[0] = 9
print(int(x[0]))
