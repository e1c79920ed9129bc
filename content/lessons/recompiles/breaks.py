import torch


def step(x):
    y = x * 2 + 1
    print("step")
    z = torch.relu(y)
    total = z.sum().item()
    return z / total


report = torch._dynamo.explain(step)(torch.ones(8))
print("graphs", report.graph_count)
for reason in report.break_reasons:
    print(reason.user_stack[-1].line)
