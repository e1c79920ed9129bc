# device: cpu
# code: input_changed
numbers = list(range(2000))
tripled = [0] * 2000


def fill():
    for i, v in enumerate(numbers):
        tripled[i] = v * 3
    return sum(tripled)


fill()
