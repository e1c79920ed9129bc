import numpy as np

print(float(np.float16(2048) + np.float16(1)))

ones = np.ones(10_000, dtype=np.float16)
total = np.float16(0)
for v in ones:
    total += v
print(float(total))
print(float(ones.sum(dtype=np.float32)))

x = np.full(4000, 20.5, dtype=np.float16)
with np.errstate(over="ignore"):
    print(float(x.sum()), float(x.mean()))
