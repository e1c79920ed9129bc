import torch

x = torch.tensor([1 / 3, 70000.0])
bits = x.view(torch.int32)
cut = (bits >> 16 << 16).view(torch.float32)
print(cut.tolist())
print(x.bfloat16().tolist())
