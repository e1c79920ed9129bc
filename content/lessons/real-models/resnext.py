import sys

import torch

try:
    import timm  # which imports torchvision
except ImportError as error:
    sys.exit(f"needs {error.name}, which is missing here")

model = timm.create_model(
    "resnext101_32x8d",
    pretrained=False,
)
count = sum(p.numel() for p in model.parameters())
print(f"{count / 1e6:.1f}")
model.eval().cuda()
with torch.inference_mode():
    out = model(torch.randn(2, 3, 224, 224, device="cuda"))
print(tuple(out.shape))
