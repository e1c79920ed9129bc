# device: cpu
# code: own_summary
import statistics
import time

values = list(range(20_000))
times = []
for _ in range(20):
    start = time.perf_counter()
    sum(values)
    times.append(time.perf_counter() - start)
print(statistics.mean(times))
