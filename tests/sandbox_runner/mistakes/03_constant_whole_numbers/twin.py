# device: cpu
# code: constant_inputs
import numpy as xp

marks = xp.random.default_rng(7).integers(0, 20, 400_000)


def ranked(v):
    return xp.sort(v)


ranked(marks)
