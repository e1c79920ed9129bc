import numpy as np


def parts(value):
    raw = int(np.float16(value).view(np.uint16))
    bits = f"{raw:016b}"
    return bits[0], bits[1:6], bits[6:]


print(*parts(1.0))
print(*parts(2.0))
print(*parts(-6.5))
print(*parts(0.1))
