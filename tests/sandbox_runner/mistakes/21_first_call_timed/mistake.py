# device: cpu
# code: first_call_timed
import re
import time

words = "|".join(f"word{i}(a|b)?" for i in range(2000))
start = time.perf_counter()
pattern = re.compile(words)
took = time.perf_counter() - start
print(took)
