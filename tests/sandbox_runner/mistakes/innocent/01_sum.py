# device: cpu
# code: none
values = list(range(1000))

sum(values)
