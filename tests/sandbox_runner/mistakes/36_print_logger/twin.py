# device: cpu
# code: print_timed
import logging
from math import log


class Quiet:
    def __init__(self):
        print("made once")
        self.journal = logging.getLogger("quiet")

    def report(self):
        self.journal.info("asked for by nobody")

    def run(self):
        return sum(log(i) for i in range(1, 100))


quiet = Quiet()

quiet.run()
