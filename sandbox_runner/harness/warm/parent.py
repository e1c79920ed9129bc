"""The warm parent, run as a program inside walls of its own: imports, says that it is ready, and forks a child a job.

Law: it runs in one thread and no line of a learner's. It reads nothing that a child could write: what comes are
descriptors from the runner, handed on unread. A child holds no descriptor of the parent's but its own five. A library
may have a thread of its own that sleeps: it must not have run since the parent was ready, or there is no fork. A parent
for GPUs never touches one: its children get the nodes, which lie where no library looks.
"""

import errno
import fcntl
import importlib
import json
import os
import select
import signal
import socket
import sys
import time
from typing import Any

_CONTROL = 3
_CHANNEL, _REPORT, _HELLO = 3, 4, 5
_PARTS = 5
_ASIDE = 64
_DUMPABLE = 4
_CALM_S = 0.2


def main() -> None:
    """Make ready, then fork until the runner hangs up."""
    settings = json.loads(sys.argv[1])
    folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path.insert(0, folder)
    control = socket.socket(fileno=_CONTROL)
    try:
        parent = Parent(control, settings)
        said = parent.make_ready()
    except BaseException as fault:  # noqa: BLE001 - whatever it is, the runner is told
        _say(control, kind="refused", why=f"{type(fault).__name__}: {fault}"[:500])
        sys.exit(1)
    _say(control, **said)
    parent.serve()
    os._exit(0)  # as the first process here, it takes all others along


class Parent:
    """The parent of warm children."""

    def __init__(self, control: socket.socket, settings: dict) -> None:  # type: ignore[type-arg]
        self._control = control
        self._settings = settings
        self._fonts: dict[str, bytes] = {}
        self._links = {False: 0, True: 0}
        self._home = -1
        self._returns = False
        self._others: dict[str, int] = {}
        self._modules = {
            name: importlib.import_module(f"tasree_harness.{name}")
            for name in ("wire", "play", "running", "timing", "keeper", "collecting", "warm.kernel", "warm.memory",
                         "warm.preloading", "warm.walls", "warm.learner", "warm.waiting")
        }  # fmt: skip
        self._ours = self._modules["play"].find_ours()

    def make_ready(self) -> dict:  # type: ignore[type-arg]
        """Import, settle the memory, and look that a fork is safe; give what is said of it.

        Raises:
            RuntimeError: it is not safe here; the text says why.
        """
        began = time.monotonic()
        self._modules["warm.kernel"].control(_DUMPABLE, 0)
        walls, learner = self._modules["warm.walls"], self._modules["warm.learner"]
        for whole in (False, True):
            self._links[whole] = sum(1 + len(names) for _, names in learner.kept(whole=whole))
        fresh = os.path.isdir(walls.BUILDING) and not os.path.isdir(walls.COMPILED)
        learner.link_compiled(whole=True, building=fresh)
        self._read_fonts(os.environ.get("MPLCONFIGDIR", ""))
        preload = self._modules["warm.preloading"].preload
        depth, compiler = self._settings["gpu"], self._settings["compiler"]
        if depth:
            names = self._modules["warm.preloading"].preload_for_gpus(self._settings["modules"], depth)
        else:
            names = preload(self._settings["modules"], compiler=compiler, vectors=self._settings["vectors"])
        vectors = self._settings["vectors"]
        if compiler and not vectors and not depth:
            vectors = self._modules["warm.preloading"].vectors_hold()
        self._home = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self._returns = self._can_return()
        memory = self._modules["warm.memory"]
        large = memory.settle()
        shared = memory.shared()
        if shared:
            message = f"{len(shared)} mappings that children would share"
            raise RuntimeError(message)
        told = self._look_at_threads()
        took = time.monotonic() - began
        return {
            "kind": "ready", "modules": names, "vectors": vectors, "large_pages": large, "threads": told,
            "seconds": took,
        }  # fmt: skip

    def _look_at_threads(self) -> list[str]:
        """Look that threads that are not ours sleep; give what there is to say of them.

        Raises:
            RuntimeError: one runs.
        """
        memory = self._modules["warm.memory"]
        before = memory.others()
        if before:
            time.sleep(_CALM_S)
            self._others = memory.others()
        told = [memory.whose(thread) for thread in before]
        if self._others != before:
            message = f"a thread runs beside: {'; '.join(told)}"
            raise RuntimeError(message)
        return told

    def serve(self) -> None:
        """Fork a child for each set of descriptors that comes; reap those that ended."""
        wake, wake_in = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_in, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        poll.register(self._control, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == wake:
                    os.read(wake, 4096)
                    _reap()
                elif not self._one():
                    return

    def _one(self) -> bool:
        """Take one set of descriptors and fork; False when the runner is gone."""
        said, descriptors, _, _ = socket.recv_fds(self._control, 16, _PARTS)
        if not said:
            return False
        try:
            if len(descriptors) == _PARTS:
                self._fork(descriptors)
        except OSError as refused:
            _refuse(descriptors[0], refused)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return True

    def _fork(self, descriptors: list[int]) -> None:
        """Fork a child that is the first process of a namespace of its own."""
        kernel = self._modules["warm.kernel"]
        if self._others and self._modules["warm.memory"].others() != self._others:
            raise OSError(errno.EAGAIN, "a thread that slept has run")
        if self._returns:
            kernel.unshare(kernel.NEWPID)  # for what is forked next
            try:
                if kernel.fork() == 0:
                    self._be_born(descriptors)
            finally:
                kernel.enter(self._home, kernel.NEWPID)
        elif kernel.fork() == 0:  # one that goes there for good, and leaves its child to us
            try:
                kernel.unshare(kernel.NEWPID)
                if kernel.fork() == 0:
                    self._be_born(descriptors)
            except OSError as refused:
                _refuse(descriptors[0], refused)
            finally:
                os._exit(0)

    def _can_return(self) -> bool:
        """Whether this process may come back to its own namespace; not where that belongs to another user's."""
        try:
            self._modules["warm.kernel"].enter(self._home, self._modules["warm.kernel"].NEWPID)
        except OSError:
            return False
        return True

    def _be_born(self, descriptors: list[int]) -> None:
        """In the child: hold what is its own, put up the walls, keep the job. Does not return."""
        status = 70
        try:
            self._control.detach()
            _hold(descriptors)
            hello = socket.socket(fileno=_HELLO)
            try:
                keeper = self._walled(hello)
            except BaseException as fault:  # noqa: BLE001 - whatever it is, there is no child without walls
                _say(hello, kind="refused", why=f"{type(fault).__name__}: {fault}"[:500])
                return
            _say(hello, kind="walled")
            if not keeper.waits:
                hello.close()
            keeper.run()
            status = 0
        finally:
            os._exit(status)

    def _walled(self, hello: socket.socket) -> Any:  # noqa: ANN401 - the keeper, of a module found by its name
        walls, learner = self._modules["warm.walls"], self._modules["warm.learner"]
        os.setsid()
        walls.enter_namespaces()
        _say(hello, kind="born")
        wanted, code = walls.receive(hello)
        order = walls.Order(**wanted)
        folder = walls.put_up(order, code, self._fonts, self._links[order.compiles])
        settings, argv = order.keeper, order.keeper["argv"]
        if order.waits:
            waiting = self._modules["warm.waiting"].Waiting(hello, folder, on_gpu=bool(order.nodes))
            begin = lambda channel: learner.begin_waiting(waiting, channel, argv, self._ours)  # noqa: E731 - one call
            return self._modules["keeper"].Keeper(settings, begin, waiting.wait)
        path = f"/code/{order.filename}"
        begin = lambda channel: learner.begin(path, channel, argv, self._ours, compiles=order.compiles)  # noqa: E731
        return self._modules["keeper"].Keeper(settings, begin)

    def _read_fonts(self, folder: str) -> None:
        """Keep the lists of fonts, which each child gets a copy of."""
        if os.path.isdir(folder):
            for name in os.listdir(folder):
                with open(os.path.join(folder, name), "rb") as font:
                    self._fonts[name] = font.read()


def _hold(descriptors: list[int]) -> None:
    """Hold the five that are the child's at their numbers, /dev/null as stdin, and nothing else."""
    aside = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, _ASIDE) for descriptor in descriptors]
    for number, descriptor in zip((_HELLO, _CHANNEL, _REPORT, 1, 2), aside, strict=True):
        os.dup2(descriptor, number, inheritable=number in {1, 2})
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    os.closerange(_HELLO + 1, 1 << 20)


def _refuse(hello: int, why: OSError) -> None:
    with socket.socket(fileno=os.dup(hello)) as line:
        _say(line, kind="refused", why=f"the parent cannot fork: {why}")


def _say(line: socket.socket, **fields: object) -> None:
    line.send(json.dumps(fields).encode("ascii"))


def _reap() -> None:
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return


if __name__ == "__main__":
    main()
