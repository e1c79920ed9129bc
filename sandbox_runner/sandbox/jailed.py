"""A job under way behind walls that a program puts up: its streams, its init's report, its end.

Law: what is killed is the namespace, by its init, and never one process of it; what was made for the job is given
back whatever happened. Serves every program that starts the keeper and says its child's pid.
"""

import asyncio
import contextlib
import os
import signal
import socket
from dataclasses import dataclass, field

from sandbox_runner.errors import SetupError
from sandbox_runner.sandbox.cgroup import Group
from sandbox_runner.sandbox.lines import Lines, Started
from sandbox_runner.sandbox.port import Ended, Later, Staged
from sandbox_runner.sandbox.reaping import Reaper
from sandbox_runner.sandbox.report import Report, read_report
from sandbox_runner.sandbox.watchdog import Watchdog, programs, tree

_GIVE_UP_S = 10.0
_COMPILERS = {"cc1plus", "cc1", "c++", "g++", "gcc", "collect2", "as", "ld", "nvcc", "cicc", "ptxas"}


@dataclass(slots=True)
class _Ears:
    """What listens to the job from outside."""

    report: Report = field(default_factory=Report)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    task: "asyncio.Task[None] | None" = None
    line: asyncio.StreamWriter | None = None


class Jailed:
    """A job behind walls, from its launcher's start until nothing of it is left."""

    def __init__(self, process: Started, lines: Lines, group: Group | None, job: Staged, reaper: Reaper) -> None:
        self.began = ""
        self.spent_s = 0.0
        """CPU time that was used before there was a job."""
        self.inherited_bytes = 0
        """Its share of memory that is a warm parent's."""
        self._process = process
        self._lines = lines
        self._group = group
        self._job = job
        self._reaper = reaper
        self._pid = 0
        self._init = -1
        self._ears = _Ears()
        self._watchdog: Watchdog | None = None
        if process.stdout is None or process.stderr is None:
            message = "bubblewrap was started without pipes"
            raise SetupError(message)
        self._stdout, self._stderr = process.stdout, process.stderr

    @property
    def stdout(self) -> asyncio.StreamReader:
        """The job's output."""
        return self._stdout

    @property
    def stderr(self) -> asyncio.StreamReader:
        """The job's error stream; a fault of bubblewrap itself comes here too."""
        return self._stderr

    @property
    def channel(self) -> socket.socket:
        """The outer end of the wire to the harness."""
        return self._lines.channel

    async def begin(self, order: bytes) -> None:
        """Give the launcher its order, learn the init's pid, and start to listen; interrupted, leave nothing behind."""
        try:
            await self._begin(order)
        except BaseException:
            await self.kill()
            await self.wait()
            raise

    async def _begin(self, order: bytes) -> None:
        stdin = self._process.stdin
        if stdin is not None:
            with contextlib.suppress(ConnectionError):
                stdin.write(order)
                await stdin.drain()
            stdin.close()
        self._pid = await self._lines.join(self._process)
        reader, self._ears.line = await asyncio.open_connection(sock=self._lines.report)
        limits = self._job.limits
        self._ears.task = asyncio.create_task(
            read_report(reader, self._ears.report, self._ears.ended, file_bytes=limits.file_bytes, files=limits.files)
        )
        if self._pid:
            with contextlib.suppress(OSError):
                self._init = os.pidfd_open(self._pid)
            grouped = self._group is not None
            self._watchdog = Watchdog(self._pid, limits, self._strike, self.inherited_bytes, grouped=grouped)
            self._watchdog.begin()

    def cpu_s(self) -> float | None:
        """CPU seconds that the group counted."""
        if self._group is not None:
            return self._less(self._group.counters().cpu_s)
        return self._less(self._watchdog.cpu_s) if self._watchdog else None

    def _less(self, used_s: float) -> float:
        return max(used_s - self.spent_s, 0.0)

    def compiling(self) -> bool:
        """Whether a compiler of C++ or of kernels is alive inside."""
        return self._pid != 0 and any(name in _COMPILERS for name in programs(self._pid))

    def stand_still(self) -> None:
        """Stop what runs under the keeper. Pids are held before they are looked up again: no other is stopped."""
        held: dict[int, int] = {}
        for pid in {*tree(self._pid)} - {self._pid} if self._pid else ():
            with contextlib.suppress(OSError):
                held[pid] = os.pidfd_open(pid)
        still = {*tree(self._pid)} if held else set()
        for pid, descriptor in held.items():
            with contextlib.suppress(OSError):
                if pid in still:
                    signal.pidfd_send_signal(descriptor, signal.SIGSTOP)
            os.close(descriptor)

    def may_leave(self) -> None:
        """Tell the keeper that the verdict is known."""
        self._say(b"l")

    def end(self) -> None:
        """Ask the keeper to end everything and collect."""
        self._say(b"e")

    def _say(self, word: bytes) -> None:
        if self._ears.line is not None:
            with contextlib.suppress(OSError):
                self._ears.line.write(word)

    async def main_ended(self) -> None:
        """Wait until the keeper saw the main process end, or can say nothing any more."""
        await self._ears.ended.wait()

    async def kill(self) -> None:
        """Kill the namespace by its init, and whatever has no init yet."""
        self._strike()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GIVE_UP_S):
                await self._process.wait()

    def _strike(self) -> None:
        if self._init >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init, signal.SIGKILL)
        else:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            if self._group is not None:
                self._group.kill()

    async def wait(self, later: Later | None = None) -> Ended:
        """Wait for the end of everything, remove the group, and tell; with `later`, only for the keeper's last word.

        That comes when it has killed and seen the end of everything else, and collected.
        """
        if self._ears.task is not None:
            await self._ears.task
        if later is not None and self._ears.report.done:
            told = self._told(removed=True)
            if self._watchdog is not None:
                self._watchdog.stop()
            later(self._clear())
            return told
        return self._told(removed=await self._clear())

    async def _clear(self) -> bool:
        """Wait until the kernel has cleared everything away, and give back what was made; False if something stayed."""
        try:
            async with asyncio.timeout(_GIVE_UP_S):
                await self._process.wait()
        except TimeoutError:
            self._strike()
            if self._group is not None:
                self._group.kill()
            await self._process.wait()
        finally:
            self._release()
        removed = await asyncio.to_thread(self._group.remove) if self._group else True
        self._reaper.reap()
        return removed

    def _release(self) -> None:
        if self._watchdog is not None:
            self._watchdog.stop()
        if self._init >= 0:
            os.close(self._init)
            self._init = -1
        if self._ears.line is not None:
            self._ears.line.close()
        self._lines.close_outer()

    def _told(self, *, removed: bool) -> Ended:
        report, seen = self._ears.report, self._ears.report.seen
        counted = self._group.counters() if self._group else None
        broken = "" if report.done else (report.broken or "the keeper said nothing")
        if not report.started:
            broken = f"the walls were not put up (the launcher ended with {self._process.returncode})"
        if not removed:
            broken = broken or "something outlived its job in the control group"
        return Ended(
            status=seen.status if seen and seen.status >= 0 else None,
            canary_signal=os.WTERMSIG(seen.canary) if seen and seen.canary > 0 and os.WIFSIGNALED(seen.canary) else 0,
            left=seen.left if seen else 0,
            forced=seen.forced if seen else False,
            cpu_s=self._less(counted.cpu_s if counted else (seen.cpu_s if seen else 0.0)),
            peak_bytes=counted.peak_bytes if counted else (self._watchdog.peak_bytes if self._watchdog else 0),
            oom_kills=counted.oom_kills if counted else 0,
            forks_refused=counted.forks_refused if counted else 0,
            watchdog=self._watchdog.reached if self._watchdog else "",
            disk_full=seen is not None and seen.free_bytes < os.sysconf("SC_PAGE_SIZE"),
            inodes_full=seen is not None and seen.free_inodes == 0,
            files=tuple(report.files),
            skipped=tuple(report.skipped),
            skipped_more=report.skipped_more,
            broken=broken,
        )
