# device: cpu
# code: none
import numpy as np

rows = [[i * 0.5, i * 0.25] for i in range(5000)]

np.array(rows)
