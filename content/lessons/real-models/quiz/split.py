samples, processes, batch = 1000, 4, 25

share = samples // processes
print(share // batch)
