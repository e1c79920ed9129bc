calls = []


def slow_square(v):
    calls.append(v)
    return v * v


squares = (slow_square(v) for v in range(1000))
print("after creating:", len(calls))

total = sum(squares)
print("after summing:", len(calls))
