# device: cpu
# code: none
values = list(range(500))

any(v > 400 for v in values)
