import torch


@torch.compile(mode="reduce-overhead")
def double(x):
    return x * 2


def run(value):
    torch.compiler.cudagraph_mark_step_begin()
    return double(torch.full((4,), value, device="cuda"))


for _ in range(3):
    run(1.0)

first = run(1.0)
kept = first.clone()
run(5.0)
try:
    safe = first.tolist() == [2.0] * 4
except RuntimeError:
    safe = False

print("first is safe:", safe)
print("kept:", kept.tolist())
