values = list(range(2000))
tripled = [0] * 2000


def fill():
    for i, v in enumerate(values):
        tripled[i] = v * 3
    return tripled


fill()
