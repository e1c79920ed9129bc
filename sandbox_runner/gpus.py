"""The host's GPUs as they are seen from outside: device nodes, memory in use, who holds them, how busy they are.

Law: nothing here runs on a GPU or asks a learner's code. NVIDIA's library is asked through `ctypes` where the host has
it; what it does not say is None, never guessed. Sizes in bytes.
"""

import contextlib
import ctypes
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

_NODE = re.compile(r"nvidia(\d+)")
_UUID = re.compile(r"GPU-[0-9a-f-]{36}")
_LIBRARIES = ("libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1")
_ENOUGH, _MOST_PROCESSES, _NAME_BYTES = 0, 256, 96
_SM_CLOCK = 1
_MOST_RECORDS, _RECORD_BYTES, _MOST_FAULTS = 10_000, 8192, 8


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU: the number of its device node, and what is known of it. `uuid` is how CUDA can be told it."""

    minor: int
    name: str = ""
    driver: str = ""
    memory_bytes: int = 0
    uuid: str = ""


@dataclass(frozen=True, slots=True)
class Sight:
    """What one look saw. `holders` are pids that have the GPU open, ours left out; `busy` is a share of 1."""

    used_bytes: int | None = None
    holders: frozenset[int] = frozenset()
    busy: float | None = None
    sm_mhz: int | None = None


class _Memory(ctypes.Structure):
    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


class _Use(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class _Process(ctypes.Structure):
    _fields_ = (
        ("pid", ctypes.c_uint),
        ("used", ctypes.c_ulonglong),
        ("instance", ctypes.c_uint),
        ("part", ctypes.c_uint),
    )


@dataclass(slots=True)
class Watch:
    """Looks at one GPU from outside. Each look may block in the driver: call it in a thread."""

    gpu: Gpu
    proc: Path = Path("/proc")
    kernel_log: Path = Path("/dev/kmsg")
    _log: int = -1
    _library: ctypes.CDLL | None = None
    _device: ctypes.c_void_p = field(default_factory=ctypes.c_void_p)

    def look(self) -> Sight:
        """Look once."""
        holders = _openers(self.proc, self.gpu.minor) | self._computing()
        return Sight(self._used(), frozenset(holders - {os.getpid()}), self._busy(), self.clock())

    def begin_listening(self) -> None:
        """Read the kernel's log from here on, where this user may."""
        with contextlib.suppress(OSError):
            self._log = os.open(self.kernel_log, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            os.lseek(self._log, 0, os.SEEK_END)

    def faults(self) -> tuple[str, ...]:
        """Give what the driver has told the kernel's log of faults (Xid) since the last time; never code or output."""
        found: list[str] = []
        for _ in range(_MOST_RECORDS if self._log >= 0 else 0):
            try:
                record = os.read(self._log, _RECORD_BYTES)
            except BrokenPipeError:
                continue  # records were overwritten before they were read
            except OSError:
                break
            if not record:
                break
            lines = record.decode("utf-8", "replace").splitlines()
            found += [line.partition("NVRM: ")[2][:200] for line in lines if "NVRM: Xid" in line]
        return tuple(found[:_MOST_FAULTS])

    def _ask(self, name: str, *wanted: object) -> bool:
        call = getattr(self._library, name, None) if self._library is not None else None
        return call is not None and call(self._device, *wanted) == _ENOUGH

    def _used(self) -> int | None:
        memory = _Memory()
        return int(memory.used) if self._ask("nvmlDeviceGetMemoryInfo", ctypes.byref(memory)) else None

    def _busy(self) -> float | None:
        use = _Use()
        return use.gpu / 100 if self._ask("nvmlDeviceGetUtilizationRates", ctypes.byref(use)) else None

    def clock(self) -> int | None:
        """Read the clock of the multiprocessors, in MHz."""
        clock = ctypes.c_uint()
        asked = self._ask("nvmlDeviceGetClockInfo", ctypes.c_uint(_SM_CLOCK), ctypes.byref(clock))
        return int(clock.value) if asked else None

    def _computing(self) -> set[int]:
        count, found = ctypes.c_uint(_MOST_PROCESSES), (_Process * _MOST_PROCESSES)()
        if not self._ask("nvmlDeviceGetComputeRunningProcesses_v3", ctypes.byref(count), found):
            return set()
        return {int(found[place].pid) for place in range(min(count.value, _MOST_PROCESSES))}


def find_gpus(dev: Path = Path("/dev")) -> tuple[int, ...]:
    """Give the numbers of the NVIDIA device nodes here; none where the driver's control node is missing."""
    if not (dev / "nvidiactl").exists():
        return ()
    return tuple(sorted(int(found[1]) for node in dev.glob("nvidia*") if (found := _NODE.fullmatch(node.name))))


def clock_reader(dev: Path = Path("/dev")) -> Callable[[], int | None]:
    """Give what reads the clock, in MHz, of this host's only GPU; it reads None where there is none, or several."""
    minors = find_gpus(dev)
    return _opened(minors[0]).clock if len(minors) == 1 else lambda: None


def open_watch(minor: int) -> Watch:
    """Open what there is to look with; without NVIDIA's library only device nodes and descriptors are seen."""
    watch = _opened(minor)
    watch.begin_listening()
    return watch


def _opened(minor: int) -> Watch:
    library = _load()
    if library is None:
        return Watch(Gpu(minor, driver=_driver()))
    for index in range(64):
        device, own = ctypes.c_void_p(), ctypes.c_uint()
        if library.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(index), ctypes.byref(device)) != _ENOUGH:
            break
        if library.nvmlDeviceGetMinorNumber(device, ctypes.byref(own)) != _ENOUGH:
            own = ctypes.c_uint(index)
        if own.value == minor:
            return Watch(_described(library, device, minor), _library=library, _device=device)
    return Watch(Gpu(minor, driver=_driver()))


def _load() -> ctypes.CDLL | None:
    for name in _LIBRARIES:
        with contextlib.suppress(OSError, AttributeError):
            library = ctypes.CDLL(name)
            if library.nvmlInit_v2() == _ENOUGH:
                return library
    return None


def _described(library: ctypes.CDLL, device: ctypes.c_void_p, minor: int) -> Gpu:
    name, memory = ctypes.create_string_buffer(_NAME_BYTES), _Memory()
    uuid = ctypes.create_string_buffer(_NAME_BYTES)
    library.nvmlDeviceGetName(device, name, ctypes.c_uint(_NAME_BYTES))
    library.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory))
    known = library.nvmlDeviceGetUUID(device, uuid, ctypes.c_uint(_NAME_BYTES)) == _ENOUGH
    own = uuid.value.decode("ascii", "replace") if known else ""
    title = name.value.decode("ascii", "replace")
    return Gpu(minor, title, _driver(), int(memory.total), own if _UUID.fullmatch(own) else "")


def _driver(path: Path = Path("/proc/driver/nvidia/version")) -> str:
    """Read the kernel driver's version."""
    try:
        found = re.search(r"\b\d{3}\.\d+(?:\.\d+)?\b", path.read_text(encoding="ascii", errors="replace"))
    except OSError:
        return ""
    return found[0] if found else ""


def _openers(proc: Path, minor: int) -> set[int]:
    """Find who has the node open, as far as this user may see."""
    node, found = f"/dev/nvidia{minor}", set()
    for folder in proc.glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if any(_target(link) == node for link in (folder / "fd").iterdir()):
                found.add(int(folder.name))
    return found


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""
