import os
import subprocess
import sys

import torch
from torch import distributed as dist
from torch.nn.parallel import DistributedDataParallel

alone = "RANK" not in os.environ  # without torchrun
count = torch.cuda.device_count()


def train(rank):
    device = torch.device("cuda", rank) if count else "cpu"
    dist.init_process_group(
        "nccl" if count else "gloo",
        store=dist.HashStore() if alone else None,
        rank=0 if alone else -1,
        world_size=1 if alone else -1,
    )
    torch.manual_seed(0)
    net = torch.nn.Linear(8, 1).to(device)
    model = DistributedDataParallel(net)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(rank)  # data of its own
    x = torch.randn(64, 8, device=device)
    y = x.sum(dim=1, keepdim=True)
    for _ in range(50):
        opt.zero_grad()
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        opt.step()
    total = net.weight.detach().clone()
    dist.all_reduce(total)  # the sum over processes
    world = dist.get_world_size()
    same = torch.allclose(total / world, net.weight)
    if rank == 0:
        print("processes:", world)
        print("same weights:", same)
        print("learned:", loss.item() < 1e-3)
    dist.destroy_process_group()


if alone and count > 1:  # as torchrun does
    launch = ["-m", "torch.distributed.run"]
    launch += [f"--nproc-per-node={count}", __file__]
    subprocess.run([sys.executable, *launch], check=True)
else:
    train(int(os.environ.get("LOCAL_RANK", "0")))
