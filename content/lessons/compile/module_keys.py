import torch
from torch import nn

model = nn.Linear(2, 1)
wrapped = torch.compile(model)
print(list(wrapped.state_dict()))

model.compile()
print(list(model.state_dict()))
