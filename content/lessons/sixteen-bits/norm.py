import numpy as np

x = np.array([300, 400], dtype=np.float16)

with np.errstate(over="ignore"):
    print(float(np.sqrt((x * x).sum())))

top = np.abs(x).max()
y = x / top
print(float(top * np.sqrt((y * y).sum())))

wide = x.astype(np.float32)
length = np.sqrt((wide * wide).sum())
print(float(length.astype(np.float16)))
