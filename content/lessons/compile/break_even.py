import math

compile_s = 42.0
eager_s = 0.030
compiled_s = 0.020

saved = eager_s - compiled_s
calls = math.ceil(round(compile_s / saved, 6))
print("break even after", calls, "calls")

for steps in (1_000, 50_000):
    eager = steps * eager_s
    compiled = compile_s + steps * compiled_s
    print(steps, "steps:", round(eager - compiled), "s")
