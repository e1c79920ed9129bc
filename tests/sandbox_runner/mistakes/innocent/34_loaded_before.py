def load():
    print("loading")
    return list(range(1000))


data = load()

sum(data)
