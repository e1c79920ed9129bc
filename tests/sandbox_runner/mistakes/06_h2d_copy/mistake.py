# device: gpu
# code: h2d_copy
import torch

torch.manual_seed(0)
x = torch.randn(4096, 4096)

x.to("cuda").sum()
