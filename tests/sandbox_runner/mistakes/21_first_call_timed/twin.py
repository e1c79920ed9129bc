# device: cpu
# code: first_call_timed
import time

values = list(range(300_000))
sum(values)
start = time.perf_counter()
total = sum(values)
took = time.perf_counter() - start
print(took)
