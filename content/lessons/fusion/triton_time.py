# %% setup
import numpy as np
import torch
import triton
import triton.language as tl

n = 50_000_000


def make(rng, n):
    x = torch.from_numpy(rng.random(n, dtype="float32"))
    return {"x": x.to("cuda") - 0.5}


@triton.jit
def chain_kernel(x_ptr, out_ptr, n, block: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * block + tl.arange(0, block)
    mask = i < n
    v = tl.load(x_ptr + i, mask=mask)
    v = tl.maximum(v * 2 + 1, 0.0)
    tl.store(out_ptr + i, v, mask=mask)


def chain(x):
    return torch.relu(x * 2 + 1)


def by_triton(x):
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 1024),)
    chain_kernel[grid](x, out, x.numel(), block=1024)
    return out


x = make(np.random.default_rng(0), n)["x"]
compiled = torch.compile(chain)

# %% eager
chain(x)

# %% compiled
compiled(x)

# %% triton
by_triton(x)
