import sys

import numpy as np

values = [0.5, 1.5, 2.5]
x = np.array(values)

print(sys.getsizeof(values[0]))
print(x.itemsize)
print(type(x[0]).__name__)
print(x[0] is x[0])
