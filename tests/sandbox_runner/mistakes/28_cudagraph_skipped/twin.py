# device: gpu
# code: cudagraph_skipped
import torch


def chain(x, y):
    return x * 2 + y.sum()


x = torch.rand(1000, device="cuda")
y = torch.rand(10, device="cuda")
fast = torch.compile(chain, mode="reduce-overhead")

fast(x, y).clone()
