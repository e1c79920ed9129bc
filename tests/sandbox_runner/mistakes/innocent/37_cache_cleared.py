import functools


@functools.lru_cache(maxsize=1000)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def run():
    fib.cache_clear()
    return fib(200)


run()
