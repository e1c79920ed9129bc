import os
import subprocess
import sys

import torch

try:
    from accelerate import Accelerator
except ImportError as error:
    sys.exit(f"needs {error.name}, which is missing here")


def train():
    accelerator = Accelerator(mixed_precision="bf16")
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 1)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model, opt = accelerator.prepare(model, opt)
    x = torch.randn(64, 8, device=accelerator.device)
    y = x.sum(dim=1, keepdim=True)
    for _ in range(50):
        opt.zero_grad()
        with accelerator.autocast():
            loss = (model(x) - y).pow(2).mean()
        accelerator.backward(loss)
        opt.step()
    say = accelerator.print  # by the first process alone
    say("processes:", accelerator.num_processes)
    say("device:", accelerator.device.type)
    accelerator.end_training()


count = torch.cuda.device_count()
if "RANK" not in os.environ and count > 1:
    launch = ["-m", "accelerate.commands.launch"]
    launch += ["--multi_gpu", f"--num_processes={count}"]
    launch += ["--num_machines=1", "--mixed_precision=bf16"]
    launch += ["--dynamo_backend=no", __file__]
    subprocess.run([sys.executable, *launch], check=True)
else:
    train()
