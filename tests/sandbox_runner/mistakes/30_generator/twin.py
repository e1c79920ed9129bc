# device: cpu
# code: generator
values = list(range(1000))

sum(v * v for v in values)
