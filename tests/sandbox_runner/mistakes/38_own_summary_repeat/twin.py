# device: cpu
# code: own_summary
import statistics
import timeit

import numpy as np

x = np.random.default_rng(0).random(100_000)
times = timeit.repeat(lambda: np.sort(x), number=5, repeat=7)
print(statistics.median(times))
