# device: cpu
# code: creation_timed
from random import gauss, randint

sum(gauss(0, 1) + randint(1, 6) for _ in range(2000))
