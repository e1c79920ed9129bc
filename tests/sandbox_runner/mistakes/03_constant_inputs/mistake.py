# device: cpu
# code: constant_inputs
import numpy as np

x = np.zeros(200_000)

np.sort(x)
