# device: cpu
# code: loop_over_array
import numpy as np


class Bag:
    def __init__(self):
        self.weights = np.random.default_rng(0).random((60, 60))

    def total(self):
        found = 0.0
        for i in range(self.weights.shape[0]):
            for j in range(self.weights.shape[1]):
                found += self.weights[i, j]
        return found


bag = Bag()

bag.total()
