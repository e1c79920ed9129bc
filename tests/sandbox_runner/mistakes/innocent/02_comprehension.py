# device: cpu
# code: none
values = list(range(1000))

[v * v for v in values]
