# device: cpu
# code: none
values = [(7919 * i) % 1000 for i in range(1000)]

sorted(values)
