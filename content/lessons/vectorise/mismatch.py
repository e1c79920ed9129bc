import numpy as np

a = np.arange(3)
b = np.arange(4)

try:
    a + b
except ValueError as error:
    print(type(error).__name__)

print((a[:, None] + b).shape)
