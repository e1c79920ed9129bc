"""The init inside the sandbox: starts the learner's process, reaps everything, tells the truth about the end, collects.

Law: the learner's process cannot signal, trace or read this one (it is pid 1 of its namespace and not dumpable; where
the kernel inside does not spare pid 1, it has another uid), and does not hold its descriptors. It runs with `-I -S`,
standard library only. When the runner is gone, so is everything. A report is frames of the form described in
`wire.py`, without a nonce.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import select
import signal
import socket
import struct
import sys
import time

TYPE_CHECKING = False  # `typing` would cost each start
if TYPE_CHECKING:
    from collections.abc import Callable

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
_CHANNEL = 3
_ABOVE_FIXED = 16
_CANARY_S = 0.5
_KILL_S = 5.0
_END = b"e"
_LOOK_MS = 1
_FLAGS, _TIMES, _EXITING = 6, slice(11, 13), 0x4
"""Of /proc/PID/stat, after the name: PF_EXITING stands there for good once a thread has left its program."""
_LENGTHS = struct.Struct(">II")


class Keeper:
    """One job's init. `settings` is what bubblewrap was told: descriptors, the learner's argv, caps of collecting.

    A warm start gives `begin`: what the learner's process does in the place of that argv, and never returns from. Where
    that process is to stand before there is a job, `wait` is called once it was started, and gives the job's caps.
    """

    def __init__(
        self,
        settings: dict,  # type: ignore[type-arg]
        begin: "Callable[[int], None] | None" = None,
        wait: "Callable[[], dict] | None" = None,  # type: ignore[type-arg]
    ) -> None:
        self._begin = begin
        self._wait = wait
        self._report = _line(settings["report"])
        self._channel = _channel(_line(settings["channel"]))
        self._argv = settings["argv"]
        self._caps = settings["caps"]
        self._folder = settings["folder"]
        self._uid = settings["uid"]
        self._main = 0
        self._main_status: int | None = None
        self._canary = 0
        self._canary_status: int | None = None
        self._canary_line = -1
        self._left = 0
        self._room: os.statvfs_result | None = None
        self._counting = False
        self._may_leave = False

    @property
    def waits(self) -> bool:
        """Whether the learner's process stands before there is a job."""
        return self._wait is not None

    def run(self) -> None:
        """Keep the job from its start to the end of the report."""
        _shield()
        wake, wake_in = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_in, warn_on_full_buffer=False)
        os.set_inheritable(self._report, False)  # noqa: FBT003 - the library's own shape
        self._start_canary()
        self._start_main()
        if self._wait is not None:
            self._caps = self._wait()
        null = os.open("/dev/null", os.O_RDWR)
        for descriptor in (1, 2, self._channel):
            os.dup2(null, descriptor, inheritable=False)
        self._send({"kind": "started"})
        forced = self._watch(wake)
        self._check_canary()
        self._counting = True
        self._kill_rest()
        room = self._room or os.statvfs(self._folder)
        usage = os.times()
        self._send({
            "kind": "ended",
            "status": -1 if self._main_status is None else self._main_status,
            "canary": -1 if self._canary_status is None else self._canary_status,
            "left": self._left,
            "forced": forced,
            "cpu_s": usage.children_user + usage.children_system + self._unreaped_s(),
            "free_bytes": room.f_bavail * room.f_frsize,
            "free_inodes": room.f_favail,
        })  # fmt: skip
        self._collect()
        self._send({"kind": "done"})

    def _start_canary(self) -> None:
        """A bystander in a session of its own: it dies of a signal only if the learner's code kills all it can see."""
        out, self._canary_line = os.pipe2(os.O_CLOEXEC)
        if self._begin is not None:  # there is much to copy here: another program costs less than a fork
            self._canary = _spawn_canary(out)
            os.close(out)
            return
        self._canary = os.fork()
        if self._canary:
            os.close(out)
            return
        with _no_return():
            self._become_the_learner()
            os.dup2(out, 0)
            os.closerange(1, 256)
            os.read(0, 1)

    def _start_main(self) -> None:
        self._main = os.fork()
        if self._main:
            return
        with _no_return():
            self._become_the_learner()
            if self._begin is not None:
                self._begin(self._channel)
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)  # as after the exec; /proc is ours to write only so
            with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
                score.write("1000")
            os.set_inheritable(self._channel, True)  # noqa: FBT003 - the library's own shape
            os.execv(self._argv[0], self._argv)  # noqa: S606 - the argv is ours, no shell is wanted

    def _become_the_learner(self) -> None:
        """In a forked child: a session of its own, plain signals, and the learner's uid where it is not ours."""
        os.setsid()
        _plain_signals()
        if self._uid:
            os.setgroups([])
            os.setresgid(self._uid, self._uid, self._uid)
            os.setresuid(self._uid, self._uid, self._uid)

    def _watch(self, wake: int) -> bool:
        """Wait for the end of the main process, or for the runner to ask for it; True when the runner asked.

        Once the runner has its verdict, a main process of which no thread can run a line any more has ended for us:
        what the kernel still clears away of it, such as its work on a GPU, may take long, and can do nothing.
        """
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        poll.register(self._report, select.POLLIN)
        while self._main_status is None:
            for descriptor, _ in poll.poll(_LOOK_MS if self._may_leave else None):
                if descriptor == wake:
                    with contextlib.suppress(BlockingIOError):
                        os.read(wake, 4096)
                elif not (asked := os.read(self._report, 64)):
                    os._exit(0)  # the runner is gone: as pid 1 leaves, the kernel kills the rest
                elif _END in asked:
                    return self._end_main()
                else:
                    self._may_leave = True
            self._reap(os.WNOHANG)
            if self._may_leave and self._main_status is None and self._leaves(self._main):
                self._room = os.statvfs(self._folder)
                return False
        return False

    def _leaves(self, pid: int) -> bool:
        """Whether no thread of a process can run its program any more, as the kernel says it."""
        try:
            threads = os.listdir(f"/proc/{pid}/task")
            return all(int(_stat(f"{pid}/task/{thread}")[_FLAGS]) & _EXITING for thread in threads)
        except (OSError, ValueError, IndexError):
            return False  # one has gone meanwhile: the next look tells

    def _only_leaves(self) -> bool:
        """Whether nobody is left but the main process, and that one only to be cleared away."""
        if not self._may_leave or self._main_status is not None:
            return False
        others = {int(name) for name in os.listdir("/proc") if name.isdigit()} - {os.getpid()}
        return others == {self._main} and self._leaves(self._main)

    def _unreaped_s(self) -> float:
        """CPU time of a main process that is still being cleared away."""
        if self._main_status is not None:
            return 0.0
        with contextlib.suppress(OSError, ValueError, IndexError):
            return sum(int(word) for word in _stat(str(self._main))[_TIMES]) / os.sysconf("SC_CLK_TCK")
        return 0.0

    def _end_main(self) -> bool:
        self._reap(os.WNOHANG)
        if self._main_status is not None:
            return False
        os.kill(self._main, signal.SIGKILL)
        deadline = time.monotonic() + _KILL_S
        while self._main_status is None and time.monotonic() < deadline:
            self._reap(os.WNOHANG)
            time.sleep(0.001)
        return True

    def _reap(self, flags: int) -> bool:
        """Reap what has ended; False when no child is left at all."""
        while True:
            try:
                pid, status = os.waitpid(-1, flags)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self._main:
                self._main_status = status
                self._room = os.statvfs(self._folder)  # now: what is left alive may still tidy up
            elif pid == self._canary:
                self._canary_status = status
            elif self._counting and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
                self._left += 1

    def _check_canary(self) -> None:
        """Let the canary go in peace: a signal sent to it before now comes first, and shows in its status."""
        with contextlib.suppress(OSError):
            os.kill(self._canary, signal.SIGCONT)
            os.write(self._canary_line, b"x")
        deadline = time.monotonic() + _CANARY_S
        while self._canary_status is None and time.monotonic() < deadline:
            self._reap(os.WNOHANG)
            time.sleep(0.0005)

    def _kill_rest(self) -> None:
        deadline = time.monotonic() + _KILL_S
        while time.monotonic() < deadline:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
            if not self._reap(os.WNOHANG) or self._only_leaves():
                return
            time.sleep(0.0005)

    def _collect(self) -> None:
        sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
        import collecting  # type: ignore[import-not-found]  # noqa: PLC0415 - the folder is not on the path before, and not needed before

        for found in collecting.collect(self._folder, collecting.Caps(**self._caps)):
            self._send(found.header(), found.content)

    def _send(self, header: dict, payload: bytes = b"") -> None:  # type: ignore[type-arg]
        content = json.dumps(header).encode("ascii")
        rest = memoryview(_LENGTHS.pack(len(content), len(payload)) + content + payload)
        try:
            while rest:
                rest = rest[os.write(self._report, rest) :]
        except OSError:
            os._exit(0)


class _no_return:  # noqa: N801 - reads as a word at its use
    """In a forked child: whatever happens, leave without running the parent's code."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, fault: object, _: object) -> None:
        if kind is None:
            os._exit(0)
        os.write(2, f"keeper: {fault}\n".encode("utf-8", "backslashreplace"))
        os._exit(127)


def _stat(pid: str) -> "list[str]":
    """What /proc says of a process or a thread, after its name."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
        return stat.read().rpartition(")")[2].split()


def _spawn_canary(line: int) -> int:
    """Start a program that ends well when it has read one byte, in a session of its own and with plain signals."""
    null = (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)
    actions = ((os.POSIX_SPAWN_DUP2, line, 0), null, (os.POSIX_SPAWN_DUP2, 1, 2))
    plain = sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})
    return os.posix_spawn("/usr/bin/head", ["head", "-c1"], {}, file_actions=actions, setsid=True, setsigdef=plain)


def _line(end: "int | str") -> int:
    """A descriptor as it is, or that of a connection to a socket, each of which answers once."""
    if isinstance(end, int):
        return end
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(end)
        return fcntl.fcntl(line.fileno(), fcntl.F_DUPFD_CLOEXEC, _ABOVE_FIXED)


def _channel(descriptor: int) -> int:
    """Give the channel its number, which the learner's process is told."""
    if descriptor != _CHANNEL:
        os.dup2(descriptor, _CHANNEL)
        os.close(descriptor)
    return _CHANNEL


def _shield() -> None:
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's handler would let anyone inside interrupt us


def _plain_signals() -> None:
    """As a program that a person starts has them, whatever the runner was started by ignores (a shell's `&` does)."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


if __name__ == "__main__":
    Keeper(json.loads(sys.argv[1])).run()
