import numpy as np

x = np.float16(4096) + np.float16(1)
print(float(x))
