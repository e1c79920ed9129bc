# %% setup
import re

text = "epoch 12, loss 0.25, time 3.5 ms"
pattern = r"(\w+) ([0-9]+\.?[0-9]*)"

# %% warm
len(re.findall(pattern, text))

# %% cold
re.purge()
len(re.findall(pattern, text))
