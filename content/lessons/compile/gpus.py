import torch

count = torch.cuda.device_count()
print("GPUs:", count)
for index in range(count):
    card = torch.cuda.get_device_properties(index)
    gib = card.total_memory / 2**30
    print(index, card.name, f"{gib:.0f} GiB")
