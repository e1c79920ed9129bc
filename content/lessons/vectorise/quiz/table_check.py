import numpy as np

t = table(np.arange(3), np.arange(4))  # noqa: F821
print(t.shape)
print(t.tolist())
