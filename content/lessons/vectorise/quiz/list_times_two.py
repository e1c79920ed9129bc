import numpy as np

values = [1, 2, 3]
x = np.array(values)

print(len(values * 2), len(x * 2))
