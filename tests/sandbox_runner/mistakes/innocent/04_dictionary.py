# device: cpu
# code: none
words = [f"w{i % 50}" for i in range(2000)]

{word: len(word) for word in words}
