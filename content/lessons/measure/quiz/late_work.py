work = []
lazy = map(work.append, [1, 2, 3])
print(len(work))
