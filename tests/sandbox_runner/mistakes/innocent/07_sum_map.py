# device: cpu
# code: none
values = list(range(500))

sum(map(abs, values))
