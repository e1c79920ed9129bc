import importlib.util
import shutil

import torch

triton = importlib.util.find_spec("triton")
print("C++ compiler:", shutil.which("g++") is not None)
print("Triton:", triton is not None)
print("built for CUDA:", torch.version.cuda)
print("GPU visible:", torch.cuda.is_available())
