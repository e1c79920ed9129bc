# device: cpu
# code: none
class Rows:
    def __init__(self):
        self.source = (i * i for i in range(1000))
        self.kept = list(self.source)


rows = Rows()

sum(rows.kept)
