import torch

options = torch._inductor.list_mode_options()
for mode in ("default", "reduce-overhead", "max-autotune"):
    print(mode)
    for option in sorted(options[mode]):
        print("   ", option)
