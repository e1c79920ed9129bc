# device: cpu
# code: loop_over_array
import math

import numpy as np

angles = np.random.default_rng(0).random(5000).tolist()

max(map(math.sin, angles))
