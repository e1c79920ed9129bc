# device: cpu
# code: loop_over_array
import numpy as np


class Rows:
    def __init__(self):
        self.weights = np.random.default_rng(0).random((60, 60))

    def total(self):
        found = 0.0
        for row in self.weights:
            found += row.sum()
        return found + self.weights[0, 0]


rows = Rows()

rows.total()
