"""What the host took from a measured job meanwhile: stolen time, cores shared with others, switches, pages read in.

Law: read from outside, from /proc; nothing that a process inside says of itself counts. What cannot be read is not
told of. Shares are of the measured cores' time; the kernel counts it in hundredths of a second.
"""

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sandbox_runner.protocol import Flag

_PROC = Path("/proc")
_IDLE, _IOWAIT, _STEAL, _LAST = 3, 4, 7, 8
_PARENT, _MAJOR = 1, 9
_LEAST_S = 0.2
_LEAST_STOLEN, _LEAST_OTHERS, _LEAST_PAGED = 0.02, 0.05, 16


@dataclass(frozen=True, slots=True)
class Seen:
    """Counts so far: seconds of the cores looked at, and of what this process has started, switches and page faults.

    `busy_s` is work of anyone, `stolen_s` what the hypervisor gave to other machines; `switches` were forced,
    `paged_in` are faults that had to wait for a disk.
    """

    cores_s: float = 0.0
    busy_s: float = 0.0
    stolen_s: float = 0.0
    switches: int = 0
    paged_in: int = 0


def look(cores: Collection[int], proc: Path = _PROC) -> Seen | None:
    """Read what the kernel has counted; `cores` are those measured on (all where it is empty). None where it cannot."""
    try:
        times = list(_core_times(cores, proc))
    except (OSError, ValueError):
        return None
    tick = os.sysconf("SC_CLK_TCK")
    every = sum(sum(each[:_LAST]) for each in times)
    stolen = sum(each[_STEAL] for each in times)
    rest = sum(each[_IDLE] + each[_IOWAIT] for each in times)
    switches, paged = _of_ours(proc)
    return Seen(every / tick, (every - rest - stolen) / tick, stolen / tick, switches, paged)


def _core_times(cores: Collection[int], proc: Path) -> Iterator[list[int]]:
    for line in (proc / "stat").read_text(encoding="ascii").splitlines():
        name, *counts = line.split()
        if name.startswith("cpu") and name != "cpu" and (not cores or int(name[3:]) in cores):
            yield [int(count) for count in counts]


def _of_ours(proc: Path) -> tuple[int, int]:
    """Sum the forced switches and the faults that read a disk of every process that this one has started."""
    parents: dict[int, int] = {}
    paged: dict[int, int] = {}
    for entry in proc.iterdir():
        if entry.name.isdigit():
            with suppress(OSError, ValueError, IndexError):  # it may end meanwhile
                after = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
                parents[int(entry.name)], paged[int(entry.name)] = int(after[_PARENT]), int(after[_MAJOR])
    ours = {pid for pid in parents if _descends(pid, parents)}
    return sum(_switches(proc / str(pid)) for pid in ours), sum(paged[pid] for pid in ours)


def _descends(pid: int, parents: dict[int, int]) -> bool:
    steps = 0
    while pid in parents and steps <= len(parents):
        pid, steps = parents[pid], steps + 1
        if pid == os.getpid():
            return True
    return False


def _switches(process: Path) -> int:
    found = 0
    with suppress(OSError):
        for status in process.glob("task/*/status"):
            with suppress(OSError, ValueError):
                for line in status.read_text(encoding="utf-8", errors="replace").splitlines():
                    if line.startswith("nonvoluntary_ctxt_switches:"):
                        found += int(line.partition(":")[2])
    return found


def told(before: Seen | None, after: Seen | None, used_s: float | None) -> list[Flag]:
    """Say what the host took between two looks, where it matters; `used_s` is the job's own time on a processor."""
    if before is None or after is None or after.cores_s - before.cores_s < _LEAST_S:
        return []
    cores_s = after.cores_s - before.cores_s
    found = []
    stolen = (after.stolen_s - before.stolen_s) / cores_s
    if stolen >= _LEAST_STOLEN:
        found.append(Flag("stolen_time", {"part": round(min(stolen, 1.0), 3)}))
    others = (after.busy_s - before.busy_s - used_s) / cores_s if used_s is not None else 0.0
    if others >= _LEAST_OTHERS:
        switches = max(after.switches - before.switches, 0)
        found.append(Flag("shared_cores", {"part": round(min(others, 1.0), 3), "switches": switches}))
    if (paged := after.paged_in - before.paged_in) >= _LEAST_PAGED:
        found.append(Flag("paged_in", {"pages": paged}))
    return found
