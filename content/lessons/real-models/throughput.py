batch, length = 16, 128
times_ms = {"eager": 40.0, "fast": 25.0}
compile_s = 45.0
steps = 20_000

tokens = batch * length
print("tokens a step:", tokens)
for name, ms in times_ms.items():
    rate = round(tokens / ms * 1e3)
    print(name, "tokens a second:", rate)
saved = (times_ms["eager"] - times_ms["fast"]) / 1e3
print("pays after:", round(compile_s / saved), "steps")
print("saved:", round(saved * steps - compile_s), "s")
