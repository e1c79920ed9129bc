import time

wall = time.perf_counter()
work = time.process_time()
time.sleep(0.2)
wall = time.perf_counter() - wall
work = time.process_time() - work

print("wall", wall >= 0.19)
print("work", work >= 0.19)
