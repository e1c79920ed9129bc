import numpy as np

table = np.zeros((1000, 16))
column = table[:, 0]

print(table.dtype, table.nbytes)
print(table.strides, column.strides)
print(column.flags["C_CONTIGUOUS"])
print(column.copy().strides)
print(table.astype(np.float32).nbytes)
