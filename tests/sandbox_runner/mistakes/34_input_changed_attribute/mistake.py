# device: cpu
# code: input_changed
import numpy as np


class Growth:
    def __init__(self):
        self.seen = {}
        self.level = np.ones(1000)

    def step(self):
        self.level *= 1.0001
        self.seen[len(self.seen)] = 1
        return self.level.sum()


growth = Growth()

growth.step()
