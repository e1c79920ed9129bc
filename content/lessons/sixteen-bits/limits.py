import torch

kinds = (torch.float32, torch.float16, torch.bfloat16)
for kind in kinds:
    info = torch.finfo(kind)
    name = str(kind).removeprefix("torch.")
    print(f"{name:9}{info.eps:9.1e}{info.max:9.1e}")

for kind in kinds:
    print(torch.tensor(0.1, dtype=kind).item())
