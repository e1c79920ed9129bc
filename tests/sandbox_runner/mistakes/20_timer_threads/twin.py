# device: cpu
# code: timer_threads
import torch
from torch.utils.benchmark import Timer

x = torch.randn(200, 200)
timer = Timer("x @ x", globals={"x": x}, num_threads=torch.get_num_threads())

timer.timeit(5).mean
