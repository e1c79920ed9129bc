import os

import torch
from torch import distributed as dist
from torch.nn.parallel import DistributedDataParallel

alone = "RANK" not in os.environ  # without torchrun
gpu = torch.cuda.is_available()
rank = 0 if alone else int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", rank) if gpu else "cpu"
dist.init_process_group(
    "nccl" if gpu else "gloo",
    store=dist.HashStore() if alone else None,
    rank=0 if alone else -1,
    world_size=1 if alone else -1,
)
torch.manual_seed(0)
net = torch.nn.Linear(8, 1).to(device)
model = DistributedDataParallel(net)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(64, 8, device=device)
y = x.sum(dim=1, keepdim=True)
for _ in range(50):
    opt.zero_grad()
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    opt.step()
print("processes:", dist.get_world_size())
print("learned:", loss.item() < 1e-3)
dist.destroy_process_group()
