import torch


def step(x):
    for _ in range(10):
        x = x + 1
    return x


x = torch.zeros(4, device="cuda")
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    step(x)
torch.cuda.current_stream().wait_stream(side)

graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = step(x)

graph.replay()
print(y.tolist())
kept = y.clone()
x.copy_(torch.full((4,), 100.0))
graph.replay()
print(y.tolist())
print(kept.tolist())
