import time

for name in ("time", "perf_counter", "process_time"):
    clock = time.get_clock_info(name)
    print(name, clock.monotonic, clock.adjustable)
