import numpy as np

with np.errstate(over="ignore", invalid="ignore"):
    x = np.float16(60000)
    y = x + x
    print(float(y - y))
