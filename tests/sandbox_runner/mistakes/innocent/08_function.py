# device: cpu
# code: none
def fib(k):
    a, b = 0, 1
    for _ in range(k):
        a, b = b, a + b
    return a


k = 200

fib(k)
