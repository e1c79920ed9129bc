# device: gpu
# code: cudagraph_skipped
# %% setup
import torch


@torch.compile(mode="reduce-overhead")
def shifted(x, steps):
    return (x + steps.to(x.device)).relu()


x = torch.rand(1000, device="cuda")
steps = torch.rand(1000, device="cuda")

# %% shifted
shifted(x, steps).clone()
