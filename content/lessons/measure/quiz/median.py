import statistics

times = [3, 1, 100, 2, 4]
print(statistics.median(times))
