# device: gpu
# code: cudagraph_overwritten
# %% setup
import torch


@torch.compile(mode="reduce-overhead")
def scaled(x, y):
    return (x * y).relu() + 1


x = torch.rand(5000, device="cuda")

# %% pieces
pieces = []
for _ in range(3):
    torch.compiler.cudagraph_mark_step_begin()
    pieces.append(scaled(x, x))
sum(pieces)
