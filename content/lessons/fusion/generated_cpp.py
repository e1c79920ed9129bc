import re

import torch
from torch._inductor.utils import run_and_get_code


def chain(x):
    return torch.relu(x * 2 + 1)


fast = torch.compile(chain)
_, (code,) = run_and_get_code(fast, torch.ones(4096))

kernels = re.findall(r"(cpp_fused_\w+) = ", code)
print(len(kernels), kernels[0])
for line in code.split("\n"):
    if "tmp" in line:
        short = re.sub(r"static_cast<\w+>", "", line)
        print(short.replace("at::vec::", "").strip())
