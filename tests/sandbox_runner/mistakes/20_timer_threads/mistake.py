# device: cpu
# code: timer_threads
import torch
from torch.utils.benchmark import Timer

x = torch.randn(200, 200)
timer = Timer("x @ x", globals={"x": x})

timer.timeit(5).mean
