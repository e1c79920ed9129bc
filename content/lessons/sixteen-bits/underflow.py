import numpy as np

info = np.finfo(np.float16)
print(float(info.smallest_normal))
print(float(info.smallest_subnormal))
for value in (1e-5, 1e-7, 3e-8, 1e-8):
    print(value, float(np.float16(value)))
print(float(np.float32(1e-8)) > 0)
