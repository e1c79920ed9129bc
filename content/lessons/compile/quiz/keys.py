import torch

model = torch.nn.Linear(2, 1, bias=False)
wrapped = torch.compile(model)
for name in wrapped.state_dict():
    print(name)
