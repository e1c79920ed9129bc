"""Run INSIDE the sandbox by `probe`: tries to pass every wall and prints, as one JSON object, what gave way.

Law: it is the attempt that counts, never a configuration that is read. A value of "" means that the wall held; any
other text says how it was passed. `FACTS` is put in place of the name by the probe.
"""

# ruff: noqa: T201, BLE001, PLR2004 - a program of its own: it prints its findings, and its bounds are what it tries

import ctypes
import errno
import json
import os
import platform
import resource
import signal
import socket
import time
from collections.abc import Callable
from functools import partial

FACTS = json.loads("@FACTS@")
_libc = ctypes.CDLL(None, use_errno=True)
_NUMBERS = {
    "x86_64": {"keyctl": 250, "bpf": 321, "userfaultfd": 323, "perf_event_open": 298},
    "aarch64": {"keyctl": 219, "bpf": 280, "userfaultfd": 282, "perf_event_open": 241},
}


def processes() -> str:
    """See, signal or read a process that is not the job's own."""
    seen = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    if len(seen) > 4 or max(seen) > 64:
        return f"{len(seen)} processes are in sight, up to number {max(seen)}"
    for path in ("/proc/1/mem",) if FACTS["own_kernel"] else ("/proc/1/environ", "/proc/1/mem", "/proc/1/maps"):
        try:
            with open(path, "rb"):
                return f"{path} opens"
        except OSError:
            continue
    return ""


def network() -> str:
    """Reach anything, or reach the host over loopback or an abstract socket."""
    with open("/proc/net/dev", encoding="ascii") as table:
        names = [line.partition(":")[0].strip() for line in table if ":" in line]
    if set(names) - {"lo"}:
        return f"interfaces {names}"
    began = time.monotonic()
    for family, address in ((socket.AF_INET, ("192.0.2.1", 9)), (socket.AF_INET, ("127.0.0.1", FACTS["port"]))):
        with socket.socket(family, socket.SOCK_STREAM) as line:
            line.settimeout(2)
            if line.connect_ex(address) == 0:
                return f"{address} answers"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        if line.connect_ex("\0" + FACTS["abstract"]) == 0:
            return "an abstract socket of the host answers"
    return "refusing took long" if time.monotonic() - began > 1.5 else ""


def ipc() -> str:
    """Attach a shared-memory segment of the host."""
    _libc.shmat.restype = ctypes.c_void_p
    found = _libc.shmat(FACTS["segment"], None, 0o10000)
    return "" if found in {None, ctypes.c_void_p(-1).value} else "a segment of the host was attached"


def files() -> str:
    """Write outside the three open folders, or read what is the host's."""
    for folder in ("/", "/usr", "/usr/bin", "/etc", "/dev", "/code", "/harness", "/harness/tasree_harness", "/env"):
        path = os.path.join(folder, "tasree-attempt")
        try:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
        except OSError:
            continue
        return f"{path} was written"
    nodes = sorted(name for name in os.listdir("/dev") if name.startswith("nvidia"))
    if not set(nodes) <= set(FACTS["nodes"]):
        return f"device nodes {nodes}, of which {FACTS['nodes']} were lent"
    for path in ("/etc/shadow", "/etc/machine-id", "/root", "/home", "/var", "/run", "/boot", *FACTS["hidden"]):
        if os.path.lexists(path) and not any(bound.startswith(f"{path}/") for bound in FACTS["bound"]):
            return f"{path} is there"
    return ""


def environment() -> str:
    """Find a variable that is not on the list."""
    beyond = sorted(set(os.environ) - set(FACTS["variables"]) - {"PWD"})
    return f"variables {beyond}" if beyond else ""


def uid() -> str:
    """Be root, or become it."""
    if 0 in os.getresuid() + os.getresgid() or 0 in os.getgroups():
        return f"ids {os.getresuid()} {os.getresgid()} {os.getgroups()}"
    for name, call in (("setuid", os.setuid), ("setgid", os.setgid)):
        try:
            call(0)
        except OSError:
            continue
        return f"{name}(0) was allowed"
    return ""


def capabilities() -> str:
    """Hold or use a privilege."""
    with open("/proc/self/status", encoding="ascii") as status:
        said = {name: value.strip() for name, _, value in (line.partition(":") for line in status)}
    held = [name for name in ("CapInh", "CapPrm", "CapEff", "CapAmb") if int(said.get(name, "0"), 16)]
    if held:
        return f"{held} are not empty"
    if said.get("NoNewPrivs", "1" if FACTS["own_kernel"] else "") != "1":
        return "new privileges may be gained"
    try:
        os.mknod("attempt-null", 0o600 | 0o020000, os.makedev(1, 3))
    except OSError:
        return ""
    return "a device node was made"


def seccomp() -> str:
    """Make calls that are refused; under a kernel of the sandbox's own, reach the host's."""
    if FACTS["own_kernel"]:
        return "" if platform.release() != FACTS["kernel"] else "the host's kernel answers"
    ours = _NUMBERS.get(platform.machine(), {})
    calls: dict[str, Callable[[], int]] = {
        "ptrace": lambda: _libc.ptrace(0, 0, 0, 0),
        "unshare": lambda: _libc.unshare(0x10000000),
        "io_uring_setup": lambda: _libc.syscall(425, 1, 0),
        **{name: partial(_libc.syscall, number, 0, 0, 0, 0, 0) for name, number in ours.items()},
    }
    for name, call in calls.items():
        ctypes.set_errno(0)
        if call() >= 0 or ctypes.get_errno() != errno.EPERM:
            return f"{name} was not refused ({os.strerror(ctypes.get_errno())})"
    for name, (number, *words) in FACTS["calls"].items():
        ctypes.set_errno(0)
        if _libc.syscall(number, *map(ctypes.c_long, words)) != -1 or ctypes.get_errno() not in {
            errno.EPERM,
            errno.ENOSYS,
        }:
            return f"{name} was not refused ({os.strerror(ctypes.get_errno())})"
    return _sockets()


def _sockets() -> str:
    for protocol in set(range(300)) - set(FACTS["protocols"]) if FACTS["protocols"] else ():
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
            try:
                socket.socket(socket.AF_INET, kind, protocol).close()
            except OSError:
                continue
            return f"a socket of protocol {protocol} was not refused"
    for family in (40, 38, 17):
        try:
            socket.socket(family, socket.SOCK_STREAM).close()
        except OSError as refused:
            if refused.errno == errno.EAFNOSUPPORT:
                continue
        return f"a socket of family {family} was not refused"
    return ""


def rlimits() -> str:
    """Raise a hard limit, or have a crash reach the host."""
    for name in ("NPROC", "NOFILE", "FSIZE", "CORE", "CPU"):
        kind = getattr(resource, f"RLIMIT_{name}")
        soft, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY:
            return f"RLIMIT_{name} has no bound"
        try:
            resource.setrlimit(kind, (soft, hard + 1))
        except (ValueError, OSError):
            continue
        return f"RLIMIT_{name} was raised"
    for name, most in FACTS["limits"].items():
        _, hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))
        if hard == resource.RLIM_INFINITY or hard > most:
            return f"RLIMIT_{name} is {hard}"
    return _core()


def _core() -> str:
    """Have the kernel keep what a crash left, or start a program of the host's with it."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGQUIT)
        os._exit(1)
    _, status = os.waitpid(child, 0)
    return "a crash left a core file, or started a program of the host's" if os.WCOREDUMP(status) else ""


WALLS = (processes, network, ipc, files, environment, uid, capabilities, seccomp, rlimits)


def attempt(wall: Callable[[], str]) -> str:
    """Try one wall; an attempt that itself fails proves nothing, and says so."""
    try:
        return wall()
    except Exception as failed:
        return f"the attempt failed: {type(failed).__name__}: {failed}"


print(json.dumps({wall.__name__: attempt(wall) for wall in WALLS} | {"ids": list(os.getresuid())}))
