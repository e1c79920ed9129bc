import numpy as np

x = np.array([3.0, -1.0, 2.0, -4.0])

mask = x > 0
print(mask)
print(x[mask])
print(float(x[mask].sum()))
print(np.where(mask, x, 0.0))
