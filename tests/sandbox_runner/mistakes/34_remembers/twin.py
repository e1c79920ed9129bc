# device: cpu
# code: remembers
import functools


@functools.lru_cache(maxsize=1000)
def paths(n):
    return 1 if n < 2 else paths(n - 1) + paths(n - 2)


def anew():
    paths.cache_clear()
    return paths(300)


anew()
