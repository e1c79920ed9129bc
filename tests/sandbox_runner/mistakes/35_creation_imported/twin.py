# device: cpu
# code: creation_timed
from numpy.random import rand

drawn = rand(100_000)


def estimate(values):
    return (values < 0.5).mean()


estimate(drawn)
