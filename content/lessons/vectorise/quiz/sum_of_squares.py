import numpy as np

x = np.arange(4)
print(int((x * x).sum()))
