# device: cpu
# code: results_lazy
import itertools as it

numbers = list(range(5000))


def running(values):
    return it.accumulate(v * v for v in values)


running(numbers)
