import re

import torch
from torch._inductor.utils import run_and_get_code


def chain(x):
    return torch.relu(x * 2 + 1)


fast = torch.compile(chain)
x = torch.ones(1_000_000, device="cuda")
_, (code,) = run_and_get_code(fast, x)

print(code.count("@triton.jit"))
found = re.search(r"@triton\.jit\n(.*?)''", code, re.DOTALL)
print(found[1].strip())
