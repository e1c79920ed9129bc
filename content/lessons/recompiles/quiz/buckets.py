lengths = [5, 9, 12, 30, 17, 8]

buckets = set()
for n in lengths:
    buckets.add(8 if n <= 8 else 16 if n <= 16 else 32)
print(len(buckets))
