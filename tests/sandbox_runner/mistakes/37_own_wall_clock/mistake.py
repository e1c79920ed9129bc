# device: cpu
# code: own_wall_clock
import time

values = list(range(100_000))
sum(values)
start = time.time()
total = sum(values)
took = time.time() - start
print(took)
