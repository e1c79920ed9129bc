import torch


class Doubler:
    def __init__(self):
        print("made once")
        self.fast = torch.compile(self.double, backend="eager")
        self.x = torch.rand(100)

    def double(self, x):
        return x * 2 + 1

    def report(self):
        print("asked for by nobody")

    def run(self):
        return self.fast(self.x)


doubler = Doubler()

doubler.run()
