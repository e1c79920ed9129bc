import numpy as np


class Walk:
    def __init__(self, n):
        self.rng = np.random.default_rng(0)
        self.position = self.rng.random(n)

    def energy(self):
        return float((self.position**2).sum())


walk = Walk(100_000)

walk.energy()
