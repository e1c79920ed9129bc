# device: cpu
# code: layout_copy
import numpy as np

table = np.random.default_rng(0).random((400, 400))
column = np.random.default_rng(1).random(400)

np.ascontiguousarray(table.T)[:10] @ column
