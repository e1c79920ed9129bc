# device: cpu
# code: none
import numpy as np


class Doubling:
    def __init__(self):
        self.out = None

    def of(self, x):
        if self.out is None:
            self.out = np.full_like(x, sum(range(100_000)))
        np.multiply(x, 2, out=self.out)
        return self.out


doubling = Doubling()
x = np.random.default_rng(1).random(1000)

doubling.of(x)
