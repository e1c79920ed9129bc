# device: cpu
# code: none
import numpy as np

rng = np.random.default_rng(0)
x = rng.random((200, 30))

(x - x.mean(axis=0)) / x.std(axis=0)
