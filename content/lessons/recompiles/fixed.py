import torch


def step(x):
    y = x * 2 + 1
    z = torch.relu(y)
    return z / z.sum()


report = torch._dynamo.explain(step)(torch.ones(8))
print("graphs", report.graph_count)

whole = torch.compile(step, backend="eager", fullgraph=True)
print(whole(torch.ones(8)).sum())
