# device: cpu
# code: print_timed
import logging


class Told:
    def __init__(self):
        self.journal = logging.getLogger("told")

    def run(self):
        total = 0
        for i in range(100):
            total += i
            self.journal.info("step %d", i)
        return total


told = Told()

told.run()
