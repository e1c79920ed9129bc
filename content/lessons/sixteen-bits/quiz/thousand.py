import numpy as np

x = np.float16(1000) + np.float16(0.2)
print(float(x))
