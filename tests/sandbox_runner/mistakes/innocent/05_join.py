# device: cpu
# code: none
parts = [str(i) for i in range(500)]

",".join(parts)
