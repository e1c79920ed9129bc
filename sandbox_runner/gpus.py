"""The host's GPUs as they are seen from outside: device nodes, memory in use, who holds them, how busy they are.

Law: nothing here runs on a GPU or asks a learner's code. NVIDIA's library is asked through `ctypes` where the host has
it; what it does not say is None, never guessed. Sizes in bytes.
"""

import contextlib
import ctypes
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sandbox_runner.protocol import Flag

_NODE = re.compile(r"nvidia(\d+)")
_UUID = re.compile(r"GPU-[0-9a-f-]{36}")
_LIBRARIES = ("libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1")
_ENOUGH, _MOST_PROCESSES, _NAME_BYTES = 0, 256, 96
_MOST_LISTED = 8
_SM_CLOCK = 1
_GPU_TEMPERATURE = 0
_SLOWED = {0x8: "hardware", 0x80: "power_brake", 0x40: "heat", 0x20: "heat", 0x4: "power"}
"""What of the driver's reasons for a lower clock takes speed from a job, by its bit; the gravest first."""
_LEAST_SLOWED = 0.1
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
    """What one look saw. `holders` are pids of what may be a job's that have it open, `others` of who else has.

    `busy` is a share of 1.
    """

    used_bytes: int | None = None
    holders: frozenset[int] = frozenset()
    busy: float | None = None
    sm_mhz: int | None = None
    others: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Health:
    """How a GPU stood at one moment; `slowed` says what held its clock down (`power`, `heat`, …), "" if nothing did."""

    mhz: int | None = None
    celsius: int | None = None
    slowed: str = ""


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
    """Looks at one GPU from outside. Each look may block in the driver: call it in a thread.

    `counts` says of a pid whether it may be a job's. Whoever only asks the driver (a monitor, another runner of this
    host) has every GPU's node open too, and leaves nothing on it; what others compute there is seen by its memory.
    """

    gpu: Gpu
    proc: Path = Path("/proc")
    kernel_log: Path = Path("/dev/kmsg")
    counts: Callable[[int], bool] = lambda _: True
    _log: int = -1
    _library: ctypes.CDLL | None = None
    _device: ctypes.c_void_p = field(default_factory=ctypes.c_void_p)

    def look(self, *, at_work: bool = True) -> Sight:
        """Look once; not `at_work`, only at who holds how much of it, which every job waits for."""
        holders = (_openers(self.proc, self.gpu.minor) | self._computing()) - {os.getpid()}
        busy, mhz = (self._busy(), self.clock()) if at_work else (None, None)
        used = self._used()  # where nobody says how much of it is used, whoever has it open may use it
        counted = frozenset(pid for pid in holders if used is None or self.counts(pid))
        return Sight(used, counted, busy, mhz, frozenset(holders - counted))

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

    def health(self) -> Health:
        """Read clock, temperature, and what holds the clock down."""
        celsius, reasons = ctypes.c_uint(), ctypes.c_ulonglong()
        warm = self._ask("nvmlDeviceGetTemperature", ctypes.c_uint(_GPU_TEMPERATURE), ctypes.byref(celsius))
        known = self._ask("nvmlDeviceGetCurrentClocksEventReasons", ctypes.byref(reasons)) or self._ask(
            "nvmlDeviceGetCurrentClocksThrottleReasons", ctypes.byref(reasons)
        )
        slowed = next((name for bit, name in _SLOWED.items() if known and reasons.value & bit), "")
        return Health(self.clock(), int(celsius.value) if warm else None, slowed)

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


@dataclass(slots=True)
class Strain:
    """How the GPUs of a job stood while it was measured, read now and then from outside."""

    readers: tuple[Callable[[], Health], ...] = ()
    seen: list[Health] = field(default_factory=list)

    def mhz(self) -> int | None:
        """Read all; give the lowest clock of their multiprocessors, in MHz."""
        found = [read() for read in self.readers]
        self.seen += found
        return min((each.mhz for each in found if each.mhz is not None), default=None)

    def told(self) -> list[Flag]:
        """Tell clock and temperature, the first and the last, and what held the clock down for a part of the time."""
        mhz = [each.mhz for each in self.seen if each.mhz is not None]
        celsius = [each.celsius for each in self.seen if each.celsius is not None]
        flags = []
        if mhz and celsius:
            clock: dict[str, str | int | float] = {"mhz": mhz[-1], "least_mhz": min(mhz)}
            flags.append(Flag("gpu_state", clock | {"celsius": celsius[-1], "celsius_before": celsius[0]}))
        slowed = Counter(each.slowed for each in self.seen)
        why, count = max(((why, n) for why, n in slowed.items() if why), key=lambda each: each[1], default=("", 0))
        if count >= _LEAST_SLOWED * len(self.seen) and why:
            flags.append(Flag(f"gpu_slowed_{why}", {"part": round(count / len(self.seen), 3)}))
        return flags


def watch_strain(minors: Sequence[int] = (), dev: Path = Path("/dev")) -> Strain:
    """Give what watches the GPUs of those numbers, or this host's only one.

    It sees nothing where there is none, or several and nobody says which are used.
    """
    found = tuple(minors) or find_gpus(dev)
    return Strain(tuple(_opened(minor).health for minor in found) if minors or len(found) == 1 else ())


def open_watch(minor: int, counts: Callable[[int], bool]) -> Watch:
    """Open what there is to look with; without NVIDIA's library only device nodes and descriptors are seen."""
    watch = _opened(minor)
    watch.counts = counts
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


def listed(pids: Iterable[int]) -> str:
    """Name processes within a sentence, eight at most."""
    return ", ".join(map(str, sorted(pids)[:_MOST_LISTED]))


def _openers(proc: Path, minor: int) -> set[int]:
    """Find who has the node open, as far as this user may see."""
    node, found = f"/dev/nvidia{minor}", set()
    for name in os.listdir(proc):  # noqa: PTH208 - plain strings: this is done before and after every job
        if name.isdecimal():
            folder = f"{proc}/{name}/fd"
            with contextlib.suppress(OSError):
                numbers = os.listdir(folder) or _of_threads(f"{proc}/{name}")  # noqa: PTH208
                if any(_target(f"{folder}/{number}") == node for number in numbers):
                    found.add(int(name))
    return found


def _of_threads(process: str) -> list[str]:
    """Give the descriptors of a process whose first thread has ended, as paths from there on."""
    tasks = os.listdir(f"{process}/task")  # noqa: PTH208 - as above
    return [f"../task/{task}/fd/{number}" for task in tasks for number in os.listdir(f"{process}/task/{task}/fd")]  # noqa: PTH208


def _target(link: str) -> str:
    try:
        return os.readlink(link)  # noqa: PTH115
    except OSError:
        return ""
