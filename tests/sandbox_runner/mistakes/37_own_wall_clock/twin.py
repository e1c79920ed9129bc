# device: cpu
# code: own_wall_clock
import time

values = list(range(100_000))
sum(values)
start = time.perf_counter()
total = sum(values)
took = time.perf_counter() - start
print(took)
