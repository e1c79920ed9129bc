# device: cpu
# code: constant_inputs
import numpy as xp

marks = xp.full(400_000, 7)


def ranked(v):
    return xp.sort(v)


ranked(marks)
