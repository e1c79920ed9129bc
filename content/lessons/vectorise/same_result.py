import numpy as np

x = np.random.default_rng(0).random(1_000_000)

total = 0.0
for v in x:
    total += v * v

print(round(float(total), 6))
print(round(float((x * x).sum()), 6))
print(round(float(x @ x), 6))
