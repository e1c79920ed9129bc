"""Proves each wall by an attempt from inside, and says of one that is missing whether it matters and how to mend it.

Law: a wall stands only when an attempt to pass it was made and failed; an attempt that could not be made proves
nothing, and counts as a missing wall. Texts here are for operators.
"""

import asyncio
import contextlib
import ctypes
import json
import platform
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from sandbox_runner.protocol import Device, Ending, Job, JobKind, Limits, Result, Wall, limits_for
from sandbox_runner.sandbox.gpuproof import PROOF, proof_fault, proven

Try = Callable[[Job, int], Awaitable[Result]]
"""Runs a job of ours inside the walls, in a slot, and gives its result."""

_LIMITS = Limits(run_s=8.0, memory_bytes=192 << 20, processes=48, disk_bytes=32 << 20, inodes=500)
_NAMESPACES = (
    "Namespaces could not be made, or the learners' interpreter cannot be read by every user (chmod -R a+rX). "
    "Debian: apt install bubblewrap; kernel.unprivileged_userns_clone=1. "
    "Ubuntu 24.04 restricts user namespaces: install an AppArmor profile that allows `userns` for bwrap (package "
    "apparmor-profiles: bwrap-userns-restrict) and for this interpreter, or start the runner as root. In a container: "
    "start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --cap-add SYS_ADMIN."
)
_CGROUP = (
    "Give the runner a control group of its own: as a systemd unit with Delegate=yes; in a container, mount "
    "/sys/fs/cgroup writable (--cgroupns=private and --privileged, or -v /sys/fs/cgroup:/sys/fs/cgroup:rw)."
)
_CORE = (
    "Start the runner with limits that it may lower, that of core files being at least 1 (systemd: LimitCORE=infinity; "
    "in a container: --ulimit core=-1), or without a program in kernel.core_pattern."
)
_MENDS = {
    "seccomp": "The filter is not loaded: install libseccomp2 and pyseccomp, and a kernel with CONFIG_SECCOMP_FILTER.",
    "uid_per_slot": "Start the runner as root: each slot then has a uid of its own. Without root one uid serves all.",
    "cgroup": _CGROUP,
    "memory": _CGROUP,
    "process_count": _CGROUP,
    "cpu": _CGROUP,
    "rlimits": _CORE,
}
CUDA = "cuda"
"""The wall that says of a GPU that a kernel of a job was right on it."""
_CUDA = (
    "Only for jobs on a GPU. Install NVIDIA's driver, so that `nvidia-smi` lists the GPU and /dev/nvidiactl, "
    "/dev/nvidia0 and /dev/nvidia-uvm exist (`nvidia-modprobe -u -c0` makes them); in a container, start it with "
    "--gpus all. TASREE_SANDBOX_PYTHON must name an interpreter whose torch was built for that driver's CUDA, and "
    "`ldconfig -p` must list libcuda.so.1, or it must lie in /usr/local/nvidia/lib64."
)
PROVEN_INSIDE = ("processes", "network", "ipc", "files", "environment", "uid", "capabilities", "seccomp", "rlimits")
PROVEN_OUTSIDE = ("memory", "process_count", "disk_bytes", "inodes", "cpu", "leftovers")
_OPTIONAL = {"uid_per_slot", "cgroup"}

_FORKS = """
import os, sys, time
made = 0
try:
    while made < 1200:
        if os.fork() == 0:
            time.sleep(5); os._exit(0)
        made += 1
except OSError:
    pass
print(made)
"""
_DISK = """
made = 0
try:
    for number in range(64):
        with open(f"part-{number}", "wb") as out: out.write(bytes(1 << 20))
        made += 1
except OSError:
    pass
print(made)
"""
_INODES = """
made = 0
try:
    while made < 5000:
        open(f"/tmp/{made}", "w").close(); made += 1
except OSError:
    pass
print(made)
"""
_MEMORY = "import time\nheld = []\nfor _ in range(64): held.append(b'x' * (8 << 20))\ntime.sleep(1)\n"
"""It is held for a while: a fast host gives so much within one pause of a watchdog."""
_DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: time.sleep(60)
    os._exit(0)
"""


@dataclass(frozen=True, slots=True)
class Setting:
    """What the probe must know of the sandbox: variables allowed inside, why no control group, host paths to hide.

    `own_kernel` says that system calls end in a kernel of the sandbox's own; `bound` are the interpreter's folders
    inside. `gpu` names the GPU that is lent, with its driver; `no_gpu` says why there is none. `nodes` and
    `variables_cuda` are what a job for it has beside the others.
    """

    variables: tuple[str, ...]
    no_cgroup: str = ""
    hidden: tuple[str, ...] = ()
    own_kernel: bool = False
    bound: tuple[str, ...] = ()
    gpu: str = ""
    no_gpu: str = "no NVIDIA GPU on this host: /dev/nvidiactl is not there"
    nodes: tuple[str, ...] = ()
    variables_cuda: tuple[str, ...] = ()
    spare: int = 0
    """How many processes a job may have beyond its limit for idle threads of libraries, on a host of many cores."""
    calls: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """System calls that must be refused, by what they are named here: a number and arguments."""
    limits: dict[str, int] = field(default_factory=dict)
    """The most that each hard limit may be, by its name."""
    protocols: tuple[int, ...] = ()
    """Of sockets of the internet; where there are none, they are not tried."""
    lent: tuple[str, ...] = ()
    """Device nodes that every job of this probe has: where all of them are jobs for a GPU."""


async def probe(attempt: Try, setting: Setting) -> tuple[Wall, ...]:
    """Try every wall. A few seconds; never raises for a wall that is missing."""
    with _lures() as lures:
        facts = {**lures, "variables": list(setting.variables), "hidden": list(setting.hidden)}
        facts |= {"nodes": list(setting.lent), "calls": setting.calls, "limits": setting.limits}
        facts |= {"protocols": list(setting.protocols)}
        facts |= {"own_kernel": setting.own_kernel, "kernel": platform.release(), "bound": list(setting.bound)}
        source = _program(facts)
        first, second = await asyncio.gather(_one(attempt, source, 0), _one(attempt, source, 1))
        outcomes = _within(first)
        cuda = await _cuda(attempt, setting)
        if cuda.stands:
            facts |= {"variables": [*setting.variables, *setting.variables_cuda], "nodes": list(setting.nodes)}
            beside = _within(await _one(attempt, _program(facts), 0, limits_for(Device.CUDA), Device.CUDA))
            outcomes |= {name: f"in a job for the GPU: {why}" for name, why in beside.items() if why}
    outcomes["uid_per_slot"] = _own_uids(first, second)
    outcomes["cgroup"] = setting.no_cgroup
    forks: Callable[[Try, int], Awaitable[str]] = partial(_forks, spare=setting.spare)
    for names in ((("memory", _memory), ("process_count", forks)), (("disk_bytes", _disk), ("inodes", _inodes)),
                  (("cpu", _cpu), ("leftovers", _leftovers))):  # fmt: skip
        said = await asyncio.gather(*(check(attempt, slot) for slot, (_, check) in enumerate(names)))
        outcomes |= dict(zip((name for name, _ in names), said, strict=True))
    return (*(_wall(name, passed) for name, passed in outcomes.items()), cuda)


def _program(facts: dict[str, object]) -> str:
    source = Path(__file__).with_name("attempt.py").read_text(encoding="utf-8")
    return source.replace('"@FACTS@"', repr(json.dumps(facts)))


async def _cuda(attempt: Try, setting: Setting) -> Wall:
    """Prove the GPU by a kernel inside the walls. Jobs for the CPU do without it, so it never matters by itself."""
    if setting.no_gpu:
        return Wall(CUDA, stands=False, matters=False, detail=setting.no_gpu, mend=_CUDA)
    result = await _one(attempt, PROOF, 0, limits_for(Device.CUDA), Device.CUDA)
    seen, why = proven(result), proof_fault(result)
    if seen is None:
        return Wall(CUDA, stands=False, matters=False, detail=(why or "nothing was proven")[:300], mend=_CUDA)
    memory = f"{seen.total / 2**30:.0f} GiB"
    detail = f"{setting.gpu}; inside: {seen.name}, {seen.count} lent, {memory}, CUDA {seen.cuda}, a kernel was right"
    return Wall(CUDA, stands=True, matters=False, detail=detail[:300])


def _wall(name: str, passed: str) -> Wall:
    mend = _MENDS.get(name, _NAMESPACES) if passed else ""
    return Wall(name, stands=not passed, matters=name not in _OPTIONAL, detail=passed[:300], mend=mend)


async def _one(attempt: Try, source: str, slot: int, limits: Limits = _LIMITS, device: Device = Device.CPU) -> Result:
    name = f"probe-{secrets.token_hex(6)}"
    return await attempt(Job(name, JobKind.RUN, source, "probe", device, limits=limits), slot)


def _within(result: Result) -> dict[str, str]:
    """What the attempts inside say; where they say nothing, no wall is proven."""
    try:
        said = json.loads(result.stdout.head)
        return {name: str(said[name]) for name in PROVEN_INSIDE}
    except (ValueError, KeyError, TypeError):
        return dict.fromkeys(PROVEN_INSIDE, f"not proven: {_why(result)}")


def _own_uids(first: Result, second: Result) -> str:
    try:
        one, other = json.loads(first.stdout.head)["ids"], json.loads(second.stdout.head)["ids"]
    except (ValueError, KeyError, TypeError):
        return f"not proven: {_why(first)}"
    return "" if one != other else f"slots 0 and 1 both have the ids {one}"


async def _memory(attempt: Try, slot: int) -> str:
    result = await _one(attempt, _MEMORY, slot)
    return "" if result.ending is Ending.OOM_HOST else f"512 MiB under a limit of 192: {_why(result)}"


async def _cpu(attempt: Try, slot: int) -> str:
    limits = Limits(run_s=8.0, cpu_s=0.3, memory_bytes=_LIMITS.memory_bytes)
    result = await _one(attempt, "while True: pass", slot, limits)
    return "" if result.ending is Ending.CPU_LIMIT else f"computed on past 0.3 s: {_why(result)}"


async def _leftovers(attempt: Try, slot: int) -> str:
    result = await _one(attempt, _DAEMON, slot)
    left = [note for note in result.notes if note.code == "left_processes"]
    return "" if result.ending is Ending.OK and left else f"a daemon was not found and ended: {_why(result)}"


async def _forks(attempt: Try, slot: int, spare: int) -> str:
    most = _LIMITS.processes + spare
    limits = replace(_LIMITS, memory_bytes=(1 << 30) + (spare << 23))
    return await _counted(attempt, slot, _FORKS, most, limits, ended=Ending.PROC_LIMIT)


async def _disk(attempt: Try, slot: int) -> str:
    return await _counted(attempt, slot, _DISK, _LIMITS.disk_bytes >> 20)


async def _inodes(attempt: Try, slot: int) -> str:
    return await _counted(attempt, slot, _INODES, _LIMITS.inodes + 20)


async def _counted(  # noqa: PLR0913 - what an attempt is made of
    attempt: Try, slot: int, source: str, most: int, limits: Limits = _LIMITS, ended: Ending | None = None
) -> str:
    """Say what is wrong with how far a source came; one `ended` from outside before it could say so was held up."""
    result = await _one(attempt, source, slot, limits)
    said = result.stdout.head.strip()
    if not said and result.ending is ended:
        return ""
    if not said.isdigit():
        return f"not proven: {_why(result)}"
    return "" if int(said) <= most else f"{said} passed a limit of {most}"


def _why(result: Result) -> str:
    details = [str(note.values["detail"]) for note in result.notes if "detail" in note.values]
    return " ".join([result.ending.value, *details, result.stderr.head[-300:].strip()]).strip()


@contextlib.contextmanager
def _lures() -> Iterator[dict[str, object]]:
    """Things of the host for the attempts to reach for: a listening port, an abstract socket, a memory segment."""
    libc = ctypes.CDLL(None)
    segment = libc.shmget(0, 4096, 0o1600 | 0o066)
    name = f"tasree-probe-{secrets.token_hex(8)}"
    try:
        with socket.socket() as port, socket.socket(socket.AF_UNIX) as abstract:
            port.bind(("127.0.0.1", 0))
            port.listen()
            abstract.bind("\0" + name)
            abstract.listen()
            yield {"port": port.getsockname()[1], "abstract": name, "segment": segment}
    finally:
        libc.shmctl(segment, 0, None)
