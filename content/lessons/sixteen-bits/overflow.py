import numpy as np

print(float(np.finfo(np.float16).max))
with np.errstate(over="ignore", invalid="ignore"):
    x = np.array([65519, 65520, 70000])
    print(x.astype(np.float16).tolist())
    big = np.float16(300) * np.float16(300)
    print(float(big), float(big - big))
