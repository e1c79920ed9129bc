import numpy as np

a = np.float16(1000) + np.float16(0.3)
print(float(a))
for at in (1, 1000, 2048, 32768):
    print(at, float(np.spacing(np.float16(at))))

b = np.float32(1) + np.float32(1e-8)
print(float(b), bool(b == 1))
print(float(np.spacing(np.float32(1))))
