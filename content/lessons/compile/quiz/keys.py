import torch

model = torch.nn.Linear(2, 1, bias=False)
wrapped = torch.compile(model)
print(list(wrapped.state_dict())[0])
