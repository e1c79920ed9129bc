# device: cpu
# code: none
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU()).requires_grad_(False).eval()
x = torch.randn(32, 64)

model(x)
