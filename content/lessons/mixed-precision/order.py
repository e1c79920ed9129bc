import torch

x = torch.tensor([1e8, 1.0, -1e8, 1.0])

one = ((x[0] + x[1]) + x[2]) + x[3]
two = (x[0] + x[2]) + (x[1] + x[3])
print(one.item(), two.item())

total = torch.tensor(0.0)
for _ in range(10):
    total += 0.1
goal = torch.tensor(1.0)
print(total.item(), torch.equal(total, goal))
print(torch.allclose(total, goal))
