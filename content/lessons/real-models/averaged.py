import copy

import torch

torch.manual_seed(0)
model = torch.nn.Linear(8, 1).double()
x = torch.randn(12, 8).double()
y = x.sum(dim=1, keepdim=True)


def gradient(net, inputs, wanted):
    net.zero_grad()
    (net(inputs) - wanted).pow(2).mean().backward()
    return net.weight.grad.clone()


whole = gradient(model, x, y)
copies = [copy.deepcopy(model) for _ in range(3)]
parts = []
for rank in range(3):
    mine = slice(rank, None, 3)
    parts.append(gradient(copies[rank], x[mine], y[mine]))
mean = torch.stack(parts).mean(dim=0)
print("one part:", torch.allclose(parts[0], whole))
print("mean of 3:", torch.allclose(mean, whole))
