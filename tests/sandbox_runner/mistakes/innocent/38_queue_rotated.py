from collections import deque

queue = deque(range(500))


def rotate():
    for _ in range(500):
        queue.append(queue.popleft())
    return len(queue)


rotate()
