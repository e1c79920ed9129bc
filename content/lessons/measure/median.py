import statistics as st

times = [10.1, 10.0, 10.3, 10.2, 60.0, 10.1, 10.2]

print("mean  ", round(st.mean(times), 2))
print("median", st.median(times))
print("min   ", min(times))
