import torch

print(torch._dynamo.list_backends())
