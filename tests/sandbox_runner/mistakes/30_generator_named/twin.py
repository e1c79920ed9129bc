# device: cpu
# code: generator
xs = list(range(100_000))
# %% list
a = sum([x * x for x in xs])
# %% gen
b = sum(x * x for x in xs)
