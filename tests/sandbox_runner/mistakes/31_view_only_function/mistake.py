# device: cpu
# code: view_only
import numpy as xp

image = xp.random.default_rng(0).random((400, 300))


def mirrored(pixels):
    return xp.flip(pixels, axis=0)


mirrored(image)
