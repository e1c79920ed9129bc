import numpy as np

x = np.zeros(2)
y = np.empty(2)


def replay():
    np.add(x, 1, out=y)


replay()
first = y
x[:] = 5
replay()
print(int(first[0]))
