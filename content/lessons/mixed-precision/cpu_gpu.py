import sys

import torch

if not torch.cuda.is_available():
    sys.exit("needs a CUDA GPU")
torch.manual_seed(0)
a, b = torch.randn(1024, 1024), torch.randn(1024, 1024)
exact = a.double() @ b.double()


def fine(result):
    off = (result.double().cpu() - exact).norm()
    return bool(off / exact.norm() < 1e-5)


print("cpu float32", fine(a @ b))
g, h = a.cuda(), b.cuda()
for mode in ("highest", "high"):
    torch.set_float32_matmul_precision(mode)
    print("gpu", mode, fine(g @ h))
print("gpu float16", fine(g.half() @ h.half()))
print("gpu bfloat16", fine(g.bfloat16() @ h.bfloat16()))
