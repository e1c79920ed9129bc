# device: cpu
# code: compile_inside
import re

import torch


class Ready:
    def __init__(self):
        self.fast = torch.compile(self.raised, backend="eager")
        self.v = torch.rand(100)

    def raised(self, rows):
        return rows.exp() + 1

    def run(self):
        return self.fast(self.v) * len(re.compile("a").findall("aba"))


ready = Ready()

ready.run()
