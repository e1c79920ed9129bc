"""One warm parent on this host: started behind bubblewrap's walls, asked for children, watched, ended.

Law: it is ours from start to end and holds nothing of any job; when our end of its line closes, it ends, and all its
children with it. Sizes in bytes, times in seconds.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import time
from dataclasses import dataclass
from typing import Any

from sandbox_runner.errors import SetupError
from sandbox_runner.protocol import Device, Limits
from sandbox_runner.sandbox.bubblewrap import Bubblewrap
from sandbox_runner.sandbox.cgroup import Group
from sandbox_runner.sandbox.jailed import Jailed
from sandbox_runner.sandbox.lines import CHANNEL, REPORT, Pairs
from sandbox_runner.sandbox.port import Staged
from sandbox_runner.sandbox.watchdog import resident, tree, used_s
from sandbox_runner.warm.born import Born, Cradle, NotBornError, readable, reader_of

READY_S = 120.0
END_S = 5.0
COMPILED, BUILDING = "/compiled", "/building"
_LIMITS = Limits(disk_bytes=256 << 20, inodes=8192)
_SAID_BYTES = 1 << 16
_DUMMY = "none.py"
WAITING = Staged("waiting", b"", _DUMMY, Limits())
"""A job for the processor that states no limits of its own."""


@dataclass(frozen=True, slots=True)
class Nest:
    """What a parent is made with.

    `slot` is its own, above those of every job. With a `compiled` folder of ours, of what torch's compiler keeps, that
    compiler is loaded too; `vectors` is what was found of the CPU's vector instructions when it was made. `building` is
    the folder that is to become one: such a parent bears no learner's job.
    """

    slot: int
    modules: tuple[str, ...] = ("numpy", "torch")
    compiled: str = ""
    vectors: str = ""
    building: str = ""
    gpus: tuple[int, ...] = ()
    gpu_names: tuple[str, ...] = ()
    """Where its children are lent GPUs: as a job's. It touches none of them."""
    card: str = ""
    """What code compiled for those GPUs depends on: their name and driver; empty where nothing of theirs is kept."""
    depth: int = 2
    """How much of torch's compiler such a parent loads, as `harness/warm/preloading.py` says; 1 is the least."""

    @property
    def device(self) -> Device:
        """What its children run on."""
        return Device.CUDA if self.gpus else Device.CPU


class Parent:
    """A parent that is ready. Make it with `start_parent`."""

    def __init__(
        self, sandbox: Bubblewrap, process: asyncio.subprocess.Process, control: socket.socket, pid: int
    ) -> None:
        self._sandbox = sandbox
        self._process = process
        self._control = control
        self._descriptor = os.pidfd_open(pid)
        self.pid = pid
        self._waiting: list[Child] = []
        self.ready: dict[str, Any] = {}
        self.births = 0
        self.under_way = 0
        self._since = time.monotonic()
        self.first_bytes = 0

    @property
    def alive(self) -> bool:
        """Whether it can still be asked."""
        return self._process.returncode is None and self._control.fileno() >= 0

    @property
    def launcher(self) -> int:
        """The pid of the process outside under which it stands."""
        return self._process.pid

    @property
    def age_s(self) -> float:
        """Seconds since it was ready."""
        return time.monotonic() - self._since

    @property
    def resident_bytes(self) -> int:
        """Its memory; 0 when it is gone."""
        return resident(self.pid)

    async def hear_ready(self) -> None:
        """Wait until it has imported everything.

        Raises:
            SetupError: it says that it is not safe here, or ended.
        """
        self._control.setblocking(False)  # noqa: FBT003 - the library's own shape
        try:
            async with asyncio.timeout(READY_S):
                await readable(self._control.fileno())
            said = json.loads(self._control.recv(_SAID_BYTES) or b"{}")
        except (TimeoutError, OSError, ValueError) as fault:
            said = {"why": f"it said nothing: {fault or 'too late'}"}
        if said.get("kind") != "ready":
            message = f"the warm parent did not get ready: {said.get('why') or await self._last_words()}"
            raise SetupError(message)
        self.ready = said
        self._since = time.monotonic()
        self.first_bytes = self.resident_bytes

    async def expect(self, like: Staged = WAITING) -> "Child":
        """Have a child wait behind every wall, in namespaces and a control group of its own, for a job `like` that.

        Raises:
            NotBornError, SetupError: as `bear`; nothing of it is left.
        """
        waiting = await self._open(like)
        try:
            order = json.dumps(self._sandbox.order_child(like, waits=True)).encode("ascii")
            await waiting.lines.expect(waiting.born, order)
        except BaseException:
            await _drop(waiting)
            raise
        self._waiting.append(waiting)
        return waiting

    @property
    def waiting(self) -> tuple[int, ...]:
        """The pids of the children that wait for a job."""
        return tuple(one.lines.pid for one in self._waiting if one.born.alive)

    @property
    def children(self) -> tuple["Child", ...]:
        """The children that wait for a job."""
        return tuple(self._waiting)

    async def dismiss(self, child: "Child | None" = None) -> None:
        """End a child that waits, or all of them."""
        for one in [one for one in self._waiting if child in {None, one}]:
            self._waiting.remove(one)
            await _drop(one)

    async def bear(self, job: Staged, child: "Child | None" = None) -> Jailed:
        """Give a child behind walls of its own, with the job's code before it: this one that waits, or any that fits.

        Raises:
            NotBornError: the parent is gone, or a wall could not be given; nothing of the child is left.
            SetupError: the job's control group cannot be made.
        """
        host, limits = self._sandbox.host, job.limits
        child = child or await self._take(job)
        spent_s = child.spent_s()
        if child.group is not None:
            processes = limits.processes + host.spare_processes
            try:
                host.limit_group(child.group, memory_bytes=limits.memory_bytes, processes=processes)
            except SetupError:
                await _drop(child)
                raise
        waited = child in self._waiting
        if waited:
            self._waiting.remove(child)
        order = self._sandbox.order_job(job) if waited else self._sandbox.order_child(job)
        child.lines.give(json.dumps(order).encode("ascii"), job.code)
        self.births += 1
        jailed = Jailed(child.born, child.lines, child.group, job, host.reaper)
        jailed.spent_s, jailed.inherited_bytes = spent_s, self.first_bytes * 2 // 3  # keeper and learner, of three
        try:
            await jailed.begin(b"")
        finally:
            child.born.never()
        jailed.began = "warm"
        return jailed

    async def _take(self, job: Staged) -> "Child":
        """Find a child that waits for such a job, or prepare one to be forked."""
        for child in self.children:
            if not child.born.alive:
                await self.dismiss(child)
            elif child.fits(job):
                return child
        return await self._open(job)

    async def _open(self, like: Staged) -> "Child":
        host = self._sandbox.host
        group = host.open_group(host.next_name())
        try:
            lines = Cradle(self._control, self.pid, group.joins if group else ())
            out, err = await _readers(lines)
        except BaseException:  # nothing was forked yet
            if group is not None:
                group.remove()
            raise
        self.under_way += 1
        return Child(like, lines, Born(out, err, self._one_gone), group)

    def _one_gone(self) -> None:
        self.under_way -= 1

    @property
    def busy(self) -> bool:
        """Whether a job is under way in one of its children."""
        return self.under_way > len(self._waiting)

    async def ended(self) -> None:
        """Wait until it has ended, whyever."""
        await self._process.wait()

    async def end(self) -> None:
        """End it, and every child that it still has."""
        self._control.close()
        await self.dismiss()
        with contextlib.suppress(ProcessLookupError, OSError):
            signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)
        try:
            async with asyncio.timeout(END_S):
                await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    async def _last_words(self) -> str:
        error = self._process.stderr
        if error is None:
            return "it ended"
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                return (await error.read(2000)).decode(errors="replace").strip() or "it ended"
        return "it ended"


@dataclass(slots=True, eq=False)
class Child:
    """A child to be, or one that waits for a job `like` that. `bytes` are what it holds of its GPU, once weighed."""

    like: Staged
    lines: Cradle
    born: Born
    group: Group | None
    bytes: int | None = None

    def fits(self, job: Staged) -> bool:
        """Whether this child's walls are those of the job: what can still be lowered may be wider."""
        mine, limits = self.like.limits, job.limits
        same = (mine.disk_bytes, mine.inodes, self.like.gpus) == (limits.disk_bytes, limits.inodes, job.gpus)
        return same and limits.processes <= mine.processes and limits.cpu_s <= mine.cpu_s

    def spent_s(self) -> float:
        """CPU time that it used while it got ready."""
        if not self.lines.pid:
            return 0.0
        if self.group is not None:
            return self.group.counters().cpu_s
        return sum(used_s(pid) for pid in tree(self.lines.pid))


async def _readers(lines: Cradle) -> list[asyncio.StreamReader]:
    """Read the two pipes of a child to be; interrupted, every line of it is closed."""
    ends, readers = [lines.out, lines.err], list[asyncio.StreamReader]()
    try:
        while ends:
            readers.append(await reader_of(ends.pop(0)))
    except BaseException:
        for end in ends:
            os.close(end)
        lines.close_outer()  # what is read already sees its end by that
        raise
    return readers


async def _drop(child: Child) -> None:
    """Give back what was made for a child that no job takes."""
    child.lines.close_outer()
    child.born.kill()
    await child.born.wait()
    if child.group is not None:
        await asyncio.to_thread(child.group.remove)


class _ParentLines(Pairs):
    """The parent's one line, of whole words, in the place of a job's two."""

    def __init__(self) -> None:
        super().__init__({})
        for number in (CHANNEL, REPORT):
            os.close(self.inner.pop(number))
        self.channel.close()
        self.channel, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.inner[CHANNEL] = control.detach()


async def start_parent(sandbox: Bubblewrap, nest: Nest) -> Parent:
    """Start a parent and wait until it is ready; interrupted or refused, nothing of it is left.

    Raises:
        SetupError: walls for it cannot be had here, or it is not safe to fork from.
    """
    host = sandbox.host
    job = Staged("warm-parent", b"", _DUMMY, _LIMITS, nest.slot, nest.device, nest.gpus, nest.gpu_names)
    inside = host.interpreter.inside
    settings = {
        "modules": nest.modules,
        "compiler": bool(nest.compiled or nest.building),
        "vectors": nest.vectors,
        "gpu": nest.depth if nest.gpus else 0,
    }
    program = "/harness/tasree_harness/warm/parent.py"
    command = [inside, "-I", "-B", "-X", "utf8", program, json.dumps(settings)]
    shown = {here: path for here, path in ((nest.compiled, COMPILED),) if here}
    written = {here: path for here, path in ((nest.building, BUILDING),) if here}
    order = sandbox.order_parent(job, command, shown, written)
    lines = _ParentLines()
    order["descriptors"] = {str(number): have for number, have in lines.inner.items()}
    process = await host.spawn(lines, None)
    try:
        if process.stdin is not None:
            process.stdin.write(json.dumps(order).encode("ascii"))
            await process.stdin.drain()
            process.stdin.close()
        pid = await lines.join(process)
        parent = Parent(sandbox, process, lines.channel, pid or process.pid)
    except BaseException:
        lines.close_outer()
        process.kill()
        await process.wait()
        raise
    try:
        await parent.hear_ready()
    except BaseException:
        await parent.end()
        raise
    lines.report.close()
    return parent


__all__ = ["Nest", "NotBornError", "Parent", "start_parent"]
