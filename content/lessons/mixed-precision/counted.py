import numpy as np

rng = np.random.default_rng(0)
grads = 10.0 ** rng.normal(-7.5, 1.2, 10_000)

for scale in (1, 2**10, 2**16, 2**28):
    with np.errstate(over="ignore"):
        half = (grads * scale).astype(np.float16)
    zeros = int((half == 0).sum())
    infs = int(np.isinf(half).sum())
    print(scale, zeros, infs)
