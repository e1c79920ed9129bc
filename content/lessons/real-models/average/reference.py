def make(rng, n):
    return {"grads": rng.normal(size=(4, n))}


def solve(grads):
    return grads.mean(axis=0)
