import numpy as np

a = np.ones(2, dtype=np.float16)
b = np.ones(2, dtype=np.float32)
print((a + b).dtype)
