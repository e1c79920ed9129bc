"""Run INSIDE a warm child: reaches for the parent and for the child before, and prints, as JSON, what gave way.

Law: as the attempts of `sandbox/attempt.py`: it is the attempt that counts; "" means that the wall held. `FACTS` is put
in place of the name: the pid of the parent on the host, and a mark that no other child has.
"""

# ruff: noqa: T201, BLE001 - a program of its own: it prints its findings

import contextlib
import ctypes
import errno
import json
import os
import random
import signal
import socket
import stat
import sys
from collections.abc import Callable

FACTS = json.loads("@FACTS@")
MARK = FACTS["mark"]
_libc = ctypes.CDLL(None, use_errno=True)
_libc.shmat.restype = ctypes.c_void_p
_KEY = 0x7A5EE
_OPEN = {0, 1, 2, 3}


def signals() -> str:
    """Signal the parent, by its number outside and by every small one inside."""
    own = {int(name) for name in os.listdir("/proc/self/task")}  # a thread's number can be signalled as its process
    for pid in (FACTS["parent"], *range(2, 64)):
        if pid in own | {os.getpid() - 1}:
            continue  # this process, and the keeper's bystander
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            continue
        return f"process {pid} can be signalled"
    with contextlib.suppress(PermissionError):
        os.kill(1, signal.SIGUSR1)  # the keeper, which has no handler for it: as the first process it is spared
    return ""


def tracing() -> str:
    """Trace, read or write the parent, the keeper, or through /proc."""
    for pid in (1, FACTS["parent"]):
        if _libc.ptrace(16, pid, 0, 0) == 0:
            return f"process {pid} was attached"
        for name in ("mem", "maps", "environ", "fd", "cwd", "root", "ns/pid"):
            try:
                os.close(os.open(f"/proc/{pid}/{name}", os.O_RDONLY))
            except OSError:
                continue
            return f"/proc/{pid}/{name} opens"
        vector = (ctypes.c_void_p * 2)(0, 8)
        if _libc.process_vm_readv(pid, vector, 1, vector, 1, 0) >= 0 or ctypes.get_errno() not in {
            errno.EPERM, errno.ESRCH, errno.ENOSYS,
        }:  # fmt: skip
            return f"process {pid} can be read"
    return ""


def descriptors() -> str:
    """Hold what is the parent's or another job's."""
    held = {int(name) for name in os.listdir("/proc/self/fd")}
    for number in sorted(held - _OPEN):
        try:
            kind = os.fstat(number).st_mode
        except OSError:
            continue  # the listing's own
        if not stat.S_ISDIR(kind):
            return f"descriptor {number} is open ({os.readlink(f'/proc/self/fd/{number}')})"
    return ""


def memory() -> str:
    """Hold memory that is shared with the parent, and see what the child before wrote into its own."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            rights = line.split()[1]
            if "w" in rights and "s" in rights:
                return f"shared memory: {line.strip()}"
    for name in ("sys", "os", "numpy", "torch", "torch._dynamo", "random"):
        module = sys.modules.get(name)
        if module is not None:
            if hasattr(module, "tasree_mark"):
                return f"{name} bears the mark of the child before"
            module.tasree_mark = MARK  # type: ignore[attr-defined]
    if "TASREE_MARK" in os.environ:
        return "the environment bears the mark of the child before"
    os.environ["TASREE_MARK"] = MARK
    return ""


def files() -> str:
    """See a file, a terminal or a mount that is not this job's own."""
    for folder in ("/tmp", "/dev/shm", "/box", "/var/tmp"):  # noqa: S108 - where the child before would leave it
        if os.path.exists(os.path.join(folder, "tasree-mark")):
            return f"{folder} bears the mark of the child before"
        if os.access(folder, os.W_OK):
            with open(os.path.join(folder, "tasree-mark"), "w", encoding="ascii") as out:
                out.write(MARK)
    if len({os.stat(folder).st_dev for folder in ("/tmp", "/dev/shm", "/box")}) != 1:  # noqa: S108
        return "the open folders are not one tmpfs"
    for folder in ("/compiled", "/harness", "/code", "/env"):
        if os.access(folder, os.W_OK):
            return f"{folder} can be written"
    terminals = [name for name in os.listdir("/dev/pts") if name.isdigit()]
    if terminals:
        return f"terminals {terminals} are in sight"
    os.openpty()
    return "" if os.listdir("/code") == ["code.py"] else f"/code holds {os.listdir('/code')}"


def ipc() -> str:
    """See a segment or a socket that the child before left."""
    if _libc.shmget(_KEY, 0, 0) >= 0:
        return "a segment of the child before is there"
    _libc.shmget(_KEY, 4096, 0o1666)
    with socket.socket(socket.AF_UNIX) as line:
        if line.connect_ex("\0tasree-mark") == 0:
            return "a socket of the child before answers"
    keep = socket.socket(socket.AF_UNIX)
    keep.bind("\0tasree-mark")
    keep.listen()
    if os.fork() == 0:  # it lives on after its job, unless it is ended
        os.setsid()
        keep.accept()
        os._exit(0)
    with open("/proc/net/unix", encoding="ascii", errors="replace") as table:
        others = [line.split()[-1] for line in table if "@" in line and "tasree-mark" not in line]
    return f"sockets {others} are in sight" if others else ""


def kernel() -> str:
    """Write what the kernel keeps for a namespace, or leave for another."""
    for path in (
        "kernel/ns_last_pid",
        "net/ipv4/ip_forward",
        "kernel/shmmax",
        "kernel/hostname",
        "user/max_user_namespaces",
    ):
        try:
            os.close(os.open(f"/proc/sys/{path}", os.O_WRONLY))
        except OSError:
            continue
        return f"/proc/sys/{path} opens for writing"
    for name in ("/tmp", "/proc", "/code"):  # noqa: S108 - mounts over the parent's
        if _libc.umount2(name.encode(), 2) == 0:
            return f"{name} was unmounted"
    return ""


def chance() -> list[str]:
    """Draw from everything that a sibling may have inherited alike."""
    drawn = [str(random.random())]  # noqa: S311 - it is looked at, not relied on
    if (numpy := sys.modules.get("numpy")) is not None:
        drawn.append(str(numpy.random.random()))
    if (torch := sys.modules.get("torch")) is not None:
        drawn.append(str(torch.rand(2).tolist()))
    if (processes := sys.modules.get("multiprocessing.process")) is not None:
        drawn.append(bytes(processes.current_process().authkey).hex())
    return drawn


WALLS = (signals, tracing, descriptors, memory, files, ipc, kernel)


def attempt(wall: Callable[[], str]) -> str:
    """Try one wall; an attempt that itself fails proves nothing, and says so."""
    try:
        return wall()
    except Exception as failed:
        return f"the attempt failed: {type(failed).__name__}: {failed}"


print(json.dumps({wall.__name__: attempt(wall) for wall in WALLS} | {"chance": chance()}))
