import importlib.util

wanted = ["torch", "transformers", "torchvision"]
wanted += ["timm", "accelerate"]
for name in wanted:
    found = importlib.util.find_spec(name)
    print(name, "yes" if found else "missing")
