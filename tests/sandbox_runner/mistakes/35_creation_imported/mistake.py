# device: cpu
# code: creation_timed
from numpy.random import rand


def estimate(count):
    return (rand(count) < 0.5).mean()


estimate(100_000)
