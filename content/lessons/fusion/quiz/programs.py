n, BLOCK = 1000, 256

programs = -(-n // BLOCK)
print(programs)
