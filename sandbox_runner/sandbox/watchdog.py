"""Watches from outside, through /proc, what no control group counts: all of a job where there is none to be had.

What the kernel keeps of answers that a job asked for over netlink and did not read belongs to no group even where
there is one, and is the host's: of that a little is lent.

Law: it counts the whole tree under the sandbox's init, so that a process that leaves its group or hides its memory
maps is still counted; of one that hides them, shared pages count in full. It only ever asks for the namespace to be
killed. Sizes in bytes.
"""

import asyncio
import os
from collections.abc import Callable, Iterator

from sandbox_runner.protocol import Limits

_PAUSE_S = 0.05
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")
_MOST, _SPARE = 4096, 8
UNREAD_BYTES = 32 << 20
_READ_BYTES = 1 << 20
_UNREAD_PLACE = 4
"""Of a line of /proc/PID/net/netlink: Rmem."""


class Watchdog:
    """The watch over one job. `reached` names the limit at which it struck; `strike` kills the namespace.

    `inherited` is its share of pages that it has in common with a warm parent, whose they are. Where a job is
    `grouped`, its control group counts the rest.
    """

    def __init__(
        self, init: int, limits: Limits, strike: Callable[[], None], inherited: int = 0, *, grouped: bool = False
    ) -> None:
        self._inherited = inherited
        self._grouped = grouped
        self._init = init
        self._limits = limits
        self._strike = strike
        self._task: asyncio.Task[None] | None = None
        self.reached = ""
        self.peak_bytes = 0
        self.cpu_s = 0.0

    def begin(self) -> None:
        """Start to watch."""
        self._task = asyncio.create_task(self._watch())

    def stop(self) -> None:
        """Stop watching; the figures stay."""
        if self._task is not None:
            self._task.cancel()

    async def _watch(self) -> None:
        while not self.reached:
            if unread(self._init) > UNREAD_BYTES:
                self.reached = "memory_bytes"
            elif not self._grouped:
                self._count()
            if self.reached:
                self._strike()
            await asyncio.sleep(_PAUSE_S)

    def _count(self) -> None:
        pids = list(tree(self._init))
        held = sum(resident(pid) for pid in pids)
        if held > self._limits.memory_bytes:
            held = max(sum(_share(pid) for pid in pids) - self._inherited, 0)
        self.peak_bytes = max(self.peak_bytes, held)
        self.cpu_s = max(self.cpu_s, sum(used_s(pid) for pid in pids))
        if held > self._limits.memory_bytes:
            self.reached = "memory_bytes"
        elif len(pids) > self._limits.processes + _SPARE:
            self.reached = "processes"


def unread(pid: int) -> int:
    """What the kernel keeps for the netlink sockets of a process's network namespace, in bytes; 0 when it is gone."""
    try:
        with open(f"/proc/{pid}/net/netlink", encoding="ascii") as table:
            text = table.read(_READ_BYTES)
        if len(text) == _READ_BYTES:  # no program has so many sockets, and what is kept for the rest is not seen
            return UNREAD_BYTES + 1
        return sum(int(line.split()[_UNREAD_PLACE]) for line in text.splitlines()[1:])
    except (OSError, IndexError, ValueError):
        return 0


def tree(root: int) -> Iterator[int]:
    """Give the pids of a process and of all that descends from it, as the host numbers them."""
    waiting, given = [root], 0
    while waiting and given < _MOST:
        pid = waiting.pop()
        given += 1
        yield pid
        try:
            threads = os.listdir(f"/proc/{pid}/task")
        except OSError:
            continue
        for thread in threads:
            try:
                with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as children:
                    waiting += [int(word) for word in children.read().split()]
            except OSError:
                continue


def programs(root: int) -> Iterator[str]:
    """Name the programs that run in the tree under `root`, as far as they let themselves be seen."""
    for pid in tree(root):
        try:
            with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as comm:
                yield comm.read().strip()
        except OSError:
            continue


def resident(pid: int) -> int:
    """Resident memory of a process in bytes, shared pages in full; 0 when it is gone."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0


def _share(pid: int) -> int:
    """Resident memory with pages shared among processes divided by them; all of it where the process hides that."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as rollup:
            for line in rollup:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) << 10
    except (OSError, IndexError, ValueError):
        pass
    return resident(pid)


def used_s(pid: int) -> float:
    """CPU time of a process and of its children that were waited for."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return sum(int(word) for word in fields[11:15]) / _TICKS
    except (OSError, IndexError, ValueError):
        return 0.0
