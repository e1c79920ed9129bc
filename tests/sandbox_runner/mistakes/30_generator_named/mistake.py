# device: cpu
# code: generator
xs = list(range(100_000))
# %% list
a = [x * x for x in xs]
# %% gen
b = (x * x for x in xs)
