import numpy as np

column = np.array([[0], [10], [20]])
row = np.array([[1, 2, 3, 4]])

print(column.shape, row.shape)
table = column + row
print(table.shape)
print(table)
