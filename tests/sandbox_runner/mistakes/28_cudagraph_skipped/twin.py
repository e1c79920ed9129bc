# device: gpu
# code: cudagraph_skipped
import torch


def chain(x):
    return x * 2


x = torch.zeros(1000, device="cuda")
fast = torch.compile(chain, mode="reduce-overhead")

fast(x).clone()
