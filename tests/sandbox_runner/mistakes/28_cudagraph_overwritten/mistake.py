# device: gpu
# code: cudagraph_overwritten
# %% setup
import torch

double = torch.compile(lambda x: x * 2, mode="reduce-overhead")
x = torch.rand(1000, device="cuda")

# %% kept
torch.compiler.cudagraph_mark_step_begin()
first = double(x)
torch.compiler.cudagraph_mark_step_begin()
second = double(x)
first + second
