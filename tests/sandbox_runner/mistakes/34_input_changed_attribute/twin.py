# device: cpu
# code: input_changed
import numpy as np


class Level:
    def __init__(self):
        self.seen = {}
        self.level = np.ones(1000)

    def step(self):
        self.seen["total"] = float(self.level.sum())
        return self.seen["total"]


level = Level()

level.step()
