"""A child that waits for its job with every wall up: its process stands and did what is slow before the code comes.

Law: until then only our code has run in it; it serves one job, and what it did beforehand it forgets. The keeper takes
the job from the runner; the learner's process is told only that it came, what its file is called and its lower limits.
"""

import contextlib
import fcntl
import gc
import json
import os
import select
import socket
import sys
import time
import traceback

from . import preloading, walls

_TELL, _GO = 4, 5
_ASIDE = 64
_SAID_BYTES = 1 << 17
_MOST_MODULES = 60_000


def _where(fault: BaseException) -> str:
    """Tell a fault and where it came from: what went wrong first, for who reads only the beginning."""
    return f"{type(fault).__name__}: {fault}"[:300] + "\n" + "".join(traceback.format_exception(fault))[-1100:]


class Waiting:
    """What keeper and learner's process have in common until the job comes. Made by the keeper, before it forks.

    It rehearses `on_gpu` where it was lent one.
    """

    def __init__(self, hello: socket.socket, folder: int, *, on_gpu: bool) -> None:
        self._hello = hello
        self._folder = folder
        self._on_gpu = on_gpu
        self._told, self._tell = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._go, self._let_go = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def wait(self) -> dict:  # type: ignore[type-arg]
        """In the keeper: hand on that the process is ready, then take the job; give the caps of its files."""
        self._tell.close()
        self._go.close()
        poll = select.poll()
        poll.register(self._told, select.POLLIN)
        poll.register(self._hello, select.POLLIN)
        while self._hello.fileno() not in dict(poll.poll()):
            said = self._told.recv(_SAID_BYTES)
            self._hello.send(said or b'{"kind": "refused", "why": "the process that was to wait ended"}')
            poll.unregister(self._told)
        try:
            job, code = walls.receive(self._hello)
            walls.put_code(self._folder, job["filename"], code)
        except Exception as fault:
            why = f"the code: {type(fault).__name__}: {fault}"
            self._hello.send(json.dumps({"kind": "refused", "why": why}).encode("ascii"))
            raise
        told = {"filename": job["filename"], "rlimits": job["rlimits"]}
        try:
            self._let_go.send(json.dumps(told).encode("ascii"))
        except OSError:
            job["gone"] = True  # its end is seen and told as any other's
        for line in (self._let_go, self._told):
            line.close()
        self._hello.send(b'{"kind": "taken"}')
        self._hello.close()
        return dict(job["caps"])

    def hold(self) -> int:
        """In the learner's process: keep what leads to the keeper at its numbers; give the first number after them."""
        above = [fcntl.fcntl(line.fileno(), fcntl.F_DUPFD_CLOEXEC, _ASIDE) for line in (self._tell, self._go)]
        for line in (self._tell, self._told, self._go, self._let_go, self._hello):
            line.detach()
        for number, descriptor in zip((_TELL, _GO), above, strict=True):
            os.dup2(descriptor, number, inheritable=False)
        return _GO + 1

    def stand(self) -> str:
        """In the learner's process: rehearse, say so, wait for the job; give the path of its file."""
        tell, go = (socket.socket(fileno=number) for number in (_TELL, _GO))
        before, steps = set(sys.modules), {}
        poll = select.poll()
        poll.register(go, select.POLLIN)
        began = time.monotonic()
        try:
            for step in preloading.rehearse(on_gpu=self._on_gpu):
                steps[step] = round((time.monotonic() - began) * 1e3, 1)
                if poll.poll(0):
                    break
            gc.collect()
            gc.freeze()  # nothing of it is the job's to look through
            said = {"kind": "ready", "steps": steps, "modules": sorted(set(sys.modules) - before)}
        except BaseException as fault:  # noqa: BLE001 - whatever it is, this child does not stand
            said = {"kind": "refused", "why": f"after {steps}: {_where(fault)}"}
        content = json.dumps(said)
        if len(content) > _MOST_MODULES:
            content = json.dumps(said | {"modules": []})
        with contextlib.suppress(OSError):  # where the job has come meanwhile nobody listens any more
            tell.send(content.encode("ascii"))
        tell.close()
        told = go.recv(_SAID_BYTES) if said["kind"] == "ready" else b""
        go.close()
        if not told:
            os._exit(0)
        job = json.loads(told)
        walls.limit(job["rlimits"], int(time.process_time()) + 1)
        return f"/code/{job['filename']}"
