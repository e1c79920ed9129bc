# device: cpu
# code: print_timed
# %% setup
def total(values):
    found = 0
    for v in values:
        found += v
        print(found)
    return found


values = list(range(200))

# %% sums
total(values)
