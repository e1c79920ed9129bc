import numpy as np

x = np.array([12, 5], dtype=np.float16)

with np.errstate(over="ignore", invalid="ignore"):
    e = np.exp(x)
    print(e.tolist()[0], (e / e.sum()).tolist())

e = np.exp(x - x.max())
print([round(p, 4) for p in (e / e.sum()).tolist()])
