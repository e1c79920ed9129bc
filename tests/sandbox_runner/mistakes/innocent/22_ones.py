# device: cpu
# code: none
import numpy as np

x = np.ones(3000)

x * 2
