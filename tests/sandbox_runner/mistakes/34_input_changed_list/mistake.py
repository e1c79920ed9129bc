# device: cpu
# code: input_changed
import random

numbers = [random.random() for _ in range(5000)]

numbers.sort()
