"""A control group a job, in version 2 or version 1, whichever the host has: memory, processes, CPU, and their counters.

Law: a group is made under the runner's own group and removed afterwards; where none can be made, `find_cgroups` says
why and the watchdog takes over: nothing falls back silently. Memory in bytes, CPU time in seconds.
"""

import contextlib
import os
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

_V1_NEEDED = ("memory", "pids", "cpuacct")
_V1_WELCOME = ("cpu",)
_V2_NEEDED = ("memory", "pids", "cpu")
_PERIOD_US = 100_000
_TCP_PART = 16
_LEAF = "tasree-runner"
_REMOVE_TRIES = 200
_REMOVE_PAUSE_S = 0.005


class NoCgroupError(Exception):
    """No group can be made here; the text says why, for an operator."""


@dataclass(frozen=True, slots=True)
class Counters:
    """What a group counted until now."""

    cpu_s: float
    peak_bytes: int
    oom_kills: int
    forks_refused: int


@dataclass(slots=True)
class Group:
    """The groups of one job. `folders` maps a controller to its folder; in version 2 all are the same."""

    version: int
    folders: dict[str, Path]
    _kept: Counters | None = field(default=None, init=False)

    @property
    def joins(self) -> tuple[str, ...]:
        """The files into which a process writes its pid to come under the limits."""
        return tuple(sorted({str(folder / "cgroup.procs") for folder in self.folders.values()}))

    def limit(self, *, memory_bytes: int, processes: int, cores: float) -> None:
        """Set hard limits; swap is not lent. `cores` 0 leaves the CPU whole. Refused, the group is removed.

        Raises:
            NoCgroupError: the kernel refused.
        """
        try:
            if self.version == 2:  # noqa: PLR2004 - the version's number
                _limit_v2(self.folders["memory"], memory_bytes, processes, cores)
            else:
                _limit_v1(self.folders, memory_bytes, processes, cores)
        except OSError as refused:
            raise _refused(refused, self.folders) from refused

    def counters(self) -> Counters:
        """Read the counters; after `remove`, what they were then."""
        return self._kept or self._read()

    def kill(self) -> None:
        """Kill everything in the group."""
        if self.version == 2:  # noqa: PLR2004 - the version's number
            with contextlib.suppress(OSError):
                (self.folders["memory"] / "cgroup.kill").write_text("1")
                return
        for pid in _numbers(self.folders["pids"] / "cgroup.procs"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def remove(self) -> bool:
        """Remove the group, keeping its counters; False when something still lives in it."""
        if self._kept is None:
            self._kept = self._read()
        for folder in set(self.folders.values()):
            for _ in range(_REMOVE_TRIES):
                try:
                    folder.rmdir()
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(_REMOVE_PAUSE_S)
                else:
                    break
        return not any(folder.exists() for folder in self.folders.values())

    def _read(self) -> Counters:
        memory, pids = self.folders["memory"], self.folders["pids"]
        if self.version == 2:  # noqa: PLR2004 - the version's number
            return Counters(
                cpu_s=_keyed(memory / "cpu.stat", "usage_usec") / 1e6,
                peak_bytes=_number(memory / "memory.peak"),
                oom_kills=_keyed(memory / "memory.events", "oom_kill"),
                forks_refused=_keyed(pids / "pids.events", "max"),
            )
        return Counters(
            cpu_s=_number(self.folders["cpuacct"] / "cpuacct.usage") / 1e9,
            peak_bytes=_number(memory / "memory.max_usage_in_bytes"),
            oom_kills=_keyed(memory / "memory.oom_control", "oom_kill"),
            forks_refused=_keyed(pids / "pids.events", "max"),
        )


@dataclass(frozen=True, slots=True)
class Cgroups:
    """Where groups can be made on this host: a parent folder a controller."""

    version: int
    parents: dict[str, Path]

    def create(self, name: str, *, memory_bytes: int, processes: int, cores: float) -> Group:
        """Make a group named `name` with hard limits, as `Group.limit` sets them.

        Raises:
            NoCgroupError: the kernel refused.
        """
        group = self.open(name)
        group.limit(memory_bytes=memory_bytes, processes=processes, cores=cores)
        return group

    def open(self, name: str) -> Group:
        """Make a group named `name`, without limits yet.

        Raises:
            NoCgroupError: the kernel refused.
        """
        folders = {controller: parent / name for controller, parent in self.parents.items()}
        made: dict[str, Path] = {}
        try:
            for folder in set(folders.values()):
                folder.mkdir()
                made[str(folder)] = folder
        except OSError as refused:  # what was there already is another's
            raise _refused(refused, made) from refused
        return Group(self.version, folders)


def _refused(fault: OSError, folders: dict[str, Path]) -> NoCgroupError:
    for folder in set(folders.values()):
        with contextlib.suppress(OSError):
            folder.rmdir()
    return NoCgroupError(f"{fault.filename}: {fault.strerror}")


def find_cgroups(proc: Path = Path("/proc/self")) -> Cgroups:
    """Find where the calling process may make groups, and prove it by making one.

    Raises:
        NoCgroupError: neither version will do; the text names the reason of the last one tried.
    """
    own = _own_groups(proc / "cgroup")
    mounts = _mounts(proc / "mountinfo")
    reasons = []
    for version, parents in _candidates(own, mounts):
        found = Cgroups(version, parents)
        try:
            if version == 2:  # noqa: PLR2004 - the version's number
                _enable_v2(parents["memory"])
            trial = found.create(f"tasree-try-{os.getpid()}", memory_bytes=64 << 20, processes=8, cores=1)
        except (NoCgroupError, OSError) as refused:
            reasons.append(f"v{version}: {refused}")
            continue
        trial.remove()
        _sweep(parents)
        return found
    raise NoCgroupError("; ".join(reasons) or "no memory and pids controller is mounted")


def _sweep(parents: dict[str, Path]) -> None:
    """Remove the empty groups of runners that were killed; one that still holds a process refuses by itself."""
    for parent in set(parents.values()):
        for folder in parent.glob("tasree-*-*"):
            pid = folder.name.split("-")[1]
            if pid.isdigit() and not Path("/proc", pid).exists():
                with contextlib.suppress(OSError):
                    folder.rmdir()


def _candidates(own: dict[str, str], mounts: dict[str, Path]) -> list[tuple[int, dict[str, Path]]]:
    found: list[tuple[int, dict[str, Path]]] = []
    if all(name in mounts and name in own for name in _V1_NEEDED):
        names = _V1_NEEDED + tuple(name for name in _V1_WELCOME if name in mounts and name in own)
        found.append((1, {name: _below(mounts[name], own[name]) for name in names}))
    if "" in mounts and "" in own:
        parent = _below(mounts[""], own[""])
        if parent.name == _LEAF:  # a runner before us, or our own parent, has moved here
            parent = parent.parent
        with contextlib.suppress(OSError):
            if set(_V2_NEEDED) <= set((parent / "cgroup.controllers").read_text().split()):
                found.append((2, dict.fromkeys(_V2_NEEDED, parent)))
    return found


def _below(mount: Path, group: str) -> Path:
    inner = mount / group.lstrip("/")
    return inner if inner.is_dir() else mount  # inside a container the path is the host's, the mount our own


def _own_groups(path: Path) -> dict[str, str]:
    groups = {}
    for line in path.read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        for name in controllers.split(","):
            groups[name] = group
    return groups


def _mounts(path: Path) -> dict[str, Path]:
    found = {}
    for line in path.read_text().splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        if kind == "cgroup2":
            found[""] = Path(before.split()[4])
        elif kind == "cgroup":
            for option in options.split(","):
                found[option] = Path(before.split()[4])
    return found


def _enable_v2(parent: Path) -> None:
    """Give the controllers to children; a group with processes of its own may not, so ours move to a leaf first."""
    wanted = " ".join(f"+{name}" for name in _V2_NEEDED)
    if set(_V2_NEEDED) <= set((parent / "cgroup.subtree_control").read_text().split()):
        return
    try:
        (parent / "cgroup.subtree_control").write_text(wanted)
    except OSError:
        leaf = parent / _LEAF
        leaf.mkdir(exist_ok=True)
        (leaf / "cgroup.procs").write_text(str(os.getpid()))
        (parent / "cgroup.subtree_control").write_text(wanted)


def _limit_v2(folder: Path, memory_bytes: int, processes: int, cores: float) -> None:
    (folder / "memory.max").write_text(str(memory_bytes))
    (folder / "pids.max").write_text(str(processes))
    if cores:
        (folder / "cpu.max").write_text(f"{int(cores * _PERIOD_US)} {_PERIOD_US}")
    swap = folder / "memory.swap.max"
    if swap.exists():
        swap.write_text("0")


def _limit_v1(folders: dict[str, Path], memory_bytes: int, processes: int, cores: float) -> None:
    memory = folders["memory"]
    (memory / "memory.limit_in_bytes").write_text(str(memory_bytes))
    both = memory / "memory.memsw.limit_in_bytes"
    if both.exists():
        both.write_text(str(memory_bytes))
    tcp = memory / "memory.kmem.tcp.limit_in_bytes"  # buffers of TCP count apart here, and are the whole host's
    if tcp.exists():
        tcp.write_text(str(memory_bytes // _TCP_PART))
    (folders["pids"] / "pids.max").write_text(str(processes))
    if "cpu" in folders and cores:
        (folders["cpu"] / "cpu.cfs_period_us").write_text(str(_PERIOD_US))
        (folders["cpu"] / "cpu.cfs_quota_us").write_text(str(int(cores * _PERIOD_US)))


def _number(path: Path) -> int:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return 0


def _numbers(path: Path) -> list[int]:
    try:
        return [int(word) for word in path.read_text().split()]
    except OSError:
        return []


def _keyed(path: Path, key: str) -> int:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return 0
    for line in lines:
        name, _, value = line.partition(" ")
        if name == key and value.strip().isdigit():
            return int(value)
    return 0
