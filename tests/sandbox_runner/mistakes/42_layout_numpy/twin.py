# device: cpu
# code: layout_copy
import numpy as np

table = np.ascontiguousarray(np.random.default_rng(0).random((400, 400)).T)
column = np.random.default_rng(1).random(400)

np.ascontiguousarray(table)[:10] @ column
