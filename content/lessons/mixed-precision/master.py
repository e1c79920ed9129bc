import torch

kinds = (torch.float32, torch.float16, torch.bfloat16)
for kind in kinds:
    w = torch.tensor(1.0, dtype=kind)
    for _ in range(1000):
        w -= 1e-4
    print(kind, round(w.item(), 3))
