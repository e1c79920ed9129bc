"""Keeps one warm parent ready: starts it, has it proven, replaces it in time, and says why a job must start cold.

Law: a parent that is not proven, or no longer what it was, gives no children; nobody waits for one, and every cold
start has a reason that is told. A parent that is replaced lives until its last child has ended. Times in seconds,
sizes in bytes.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from sandbox_runner.errors import SetupError
from sandbox_runner.protocol import Wall
from sandbox_runner.sandbox.bubblewrap import Bubblewrap
from sandbox_runner.sandbox.jailed import Jailed
from sandbox_runner.sandbox.port import Staged
from sandbox_runner.warm.environment import stamp
from sandbox_runner.warm.parent import WAITING, Child, Nest, NotBornError, Parent, start_parent

WALL = "warm_start"
MEND = (
    "Runs start cold until then: only slower. A warm start needs bubblewrap, a kernel that gives the runner a user "
    "namespace with uids of its own, and /proc as a whole (in a container: not masked, as with --privileged)."
)

_POLL_S = 0.1
_WANTED_S = 0.01

Note = Callable[..., None]
"""Writes a line of the journal: an event, then its figures."""
Quiet = Callable[[], AbstractAsyncContextManager[None]]
"""Holds off every measurement of this host while it lasts, and waits for one that is under way."""
Improve = Callable[[], Awaitable[bool]]
"""Makes a part of what a better parent needs, in idle moments; False when there is nothing more to make.

May be cancelled, and is asked again; so it is where it raises BusyError."""
Hold = Callable[[], AbstractAsyncContextManager[str]]
"""Holds what a child needs while it is made to wait; gives why that is not to be had now, or nothing."""
Prove = Callable[[Parent], Awaitable[str]]
"""Tries the walls of a parent's children from inside; gives what gave way, or nothing."""


class BusyError(SetupError):
    """What a child needs is not to be had now; nothing is wrong with its parent."""


def _freely() -> AbstractAsyncContextManager[str]:
    """Hold nothing: what waits needs nothing but its parent."""
    return contextlib.nullcontext("")


@dataclass(frozen=True, slots=True)
class Rules:
    """When a parent is replaced, and how often that is looked at."""

    age_s: float = 6 * 3600.0
    births: int = 20_000
    grown_bytes: int = 256 << 20
    look_s: float = 2.0
    calm_s: float = 10.0
    again_s: float = 5.0
    again_most_s: float = 600.0
    waiting: int = 1


class Nursery:
    """The parent that children come from, and those that end with their last child."""

    def __init__(  # noqa: PLR0913 - each is a thing of its own
        self,
        sandbox: Bubblewrap,
        make: Callable[[], Nest],
        prove: Prove,
        note: Note,
        rules: Rules,
        *,
        name: str = WALL,
        quiet: Quiet,
        improve: Improve | None = None,
        like: Sequence[Staged] = (WAITING,),
        hold: Hold = _freely,
        wanted: Callable[[], bool] = lambda: False,
        failed: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`like` are the jobs that children wait for, each with a slot of its own; `hold` holds what they need.

        While they rehearse, a job that is `wanted` is not kept waiting: it gets the child as it is. `failed` hears why
        a parent, or its first child on a GPU, could not get ready or be proven, before the next parent is made.
        """
        self.name = name
        self._sandbox = sandbox
        self._make = make
        self._prove = prove
        self._note = note
        self._rules = rules
        self._quiet = quiet
        self._improve = improve
        self._like = like
        self._hold = hold
        self._wanted = wanted
        self._failed = failed
        self._coming: Parent | None = None
        self._in_slot: dict[int, Child] = {}
        self._better = False
        self._calm_s = 0.0
        self._parent: Parent | None = None
        self._retired: list[Parent] = []
        self._why = "no_parent"
        self._detail = "the parent is not ready yet"
        self._stamp: object = None
        self._refill = asyncio.Event()

    @property
    def why_cold(self) -> str:
        """Why no child can be had now, as a code; empty when one can."""
        if self._parent is not None and not self._parent.alive:
            return "parent_died"
        return self._why

    async def bear(self, job: Staged) -> Jailed:
        """Give a child of the parent.

        Raises:
            NotBornError: with a reason as a code; the job must start cold.
        """
        parent, why = self._parent, job.cold or self.why_cold
        if why or parent is None:
            raise NotBornError(why or "no_parent")
        try:
            jailed = await parent.bear(job)
        except NotBornError as fault:
            self._note("not_born", detail=str(fault)[:300])
            raise NotBornError("wall_refused" if parent.alive else "parent_died") from fault
        self._refill.set()
        return jailed

    def wall(self) -> Wall:
        """What there is to say of the warm start, for an operator."""
        parent = self._parent
        if parent is None or self.why_cold:
            detail = self._detail if self._why else "the parent died; another is being started"
            return Wall(self.name, stands=False, matters=False, detail=detail[:300], mend=MEND)
        size, first = parent.resident_bytes / 2**20, parent.first_bytes / 2**20
        modules = ", ".join(map(str, parent.ready.get("modules", ())))
        detail = (
            f"parent of {modules}: {parent.age_s:.0f} s old, {size:.0f} MiB ({first:.0f} at first), "
            f"{parent.births} children, {len(self.waiting())} waiting; out of their reach by attempts"
        )
        return Wall(self.name, stands=True, matters=False, detail=detail[:300])

    async def renew(self) -> bool:
        """Start a parent and have it proven, then let it take the place of the one before; say whether it did."""
        self._stamp = await asyncio.to_thread(stamp, self._sandbox.host.interpreter)
        try:
            async with self._quiet():
                nest = self._make()
                parent = self._coming = await start_parent(self._sandbox, nest)
                try:
                    wrong = await self._prove(parent)
                    if not wrong and nest.gpus:
                        await self._try_first(parent)
                except BaseException:
                    await parent.end()
                    raise
        except SetupError as fault:
            if not isinstance(fault, BusyError):
                self._failed(str(fault))
            self._give_up("parent_failed", str(fault))
            return False
        finally:
            self._coming = None
        if wrong:
            await parent.end()
            self._failed(wrong)
            self._give_up("wall_missing", wrong)
            return False
        before, self._parent, self._why = self._parent, parent, ""
        if before is not None:
            self._retired.append(before)
        self._refill.set()
        threads = {"threads": str(parent.ready["threads"])[:300]} if parent.ready.get("threads") else {}
        seconds = round(float(parent.ready["seconds"]), 2)
        self._note("parent_ready", seconds=seconds, bytes=parent.first_bytes, **threads)
        return True

    async def _try_first(self, parent: Parent) -> None:
        """Have the first child of a parent use its GPU: only so it is known that a fork of it can.

        Raises:
            NotBornError: it cannot.
            BusyError: the GPU is not to be had.
        """
        async with self._hold() as why:
            if why:
                raise BusyError(why)
            try:
                child = await self._expected(parent)
                if child is not None:
                    await child.lines.hear_ready()
                    self._tell_steps(child)
            except NotBornError:
                await parent.dismiss()
                raise
            if not self._rules.waiting:
                await parent.dismiss()

    def _tell_steps(self, child: Child) -> None:
        self._note("child_waits", **{f"{name}_ms": took for name, took in child.lines.ready["steps"].items()})

    def _give_up(self, why: str, detail: str) -> None:
        if self._parent is None or not self._parent.alive or self._why:
            self._why = why
        self._detail = f"no parent: {detail}"
        self._note("parent_refused", why=why, detail=detail[:500])

    async def keep(self, tell: Callable[[Wall], None], idle: Callable[[], bool]) -> None:
        """Keep a parent ready; never returns. `tell` hears what is to be said of it when that changes."""
        refilling = asyncio.create_task(self._keep_waiting())
        try:
            await self._keep(tell, idle)
        finally:
            refilling.cancel()
            await asyncio.gather(refilling, return_exceptions=True)

    async def _keep_waiting(self) -> None:
        """Have a child wait for the next job, made while nothing is measured."""
        while True:
            await self._refill.wait()
            self._refill.clear()
            try:
                async with self._quiet():
                    await self._fill()
                if self._wanted():  # it was broken off for a job, which may have needed no child
                    asyncio.get_running_loop().call_later(self._rules.look_s, self._refill.set)
            except SetupError as fault:
                self._note("none_waits", detail=str(fault)[:1500])

    async def _fill(self) -> None:
        """Have as many children wait, and ready, as the rules say."""
        parent = self._parent
        while parent is not None and parent.alive and parent is self._parent:
            unready = [child for child in parent.children if not child.lines.ready]
            if not unready and len(parent.waiting) >= self._rules.waiting:
                return
            async with self._hold() as why:
                if why:
                    self._note("none_waits", detail=why[:300])
                    return
                made = await self._one_more(parent, unready)
            if not made or self._wanted():
                return

    async def _one_more(self, parent: Parent, unready: list[Child]) -> bool:
        """Have one child more wait, or go on with one that was not ready, until it is or a job is wanted."""
        child = unready[0] if unready else await self._expected(parent)
        if child is None:
            return False
        getting_ready = asyncio.ensure_future(child.lines.hear_ready())
        try:
            while not getting_ready.done() and not self._wanted():
                await asyncio.wait({getting_ready}, timeout=_WANTED_S)
            if getting_ready.done() and getting_ready.result() and child.like.gpus:
                self._tell_steps(child)
        except NotBornError:
            await parent.dismiss(child)
            raise
        finally:
            getting_ready.cancel()
            await asyncio.gather(getting_ready, return_exceptions=True)
        return True

    async def _expected(self, parent: Parent) -> Child | None:
        """Have a child wait in a slot that no other is in; None where all are taken."""
        self._in_slot = {slot: child for slot, child in self._in_slot.items() if child.born.alive}
        free = [like for like in self._like if like.slot not in self._in_slot or len(self._like) == 1]
        if not free:
            return None
        child = await parent.expect(free[0])
        self._in_slot[free[0].slot] = child
        return child

    async def _keep(self, tell: Callable[[Wall], None], idle: Callable[[], bool]) -> None:
        pause = self._rules.again_s
        while True:
            why = await self._due()
            if not why:
                await self._clear()
                await self._wait(self._rules.look_s)
                await self._use_calm(idle)
                continue
            self._note("parent_due", why=why)
            if await self.renew():
                pause, self._better = self._rules.again_s, False
                tell(self.wall())
            else:
                tell(self.wall())
                await asyncio.sleep(pause)
                pause = min(pause * 2, self._rules.again_most_s)

    async def _use_calm(self, idle: Callable[[], bool]) -> None:
        """When nothing has been asked for in a while, improve; given up as soon as something is."""
        self._calm_s = self._calm_s + self._rules.look_s if idle() else 0.0
        if self._improve is None or self._calm_s < self._rules.calm_s:
            return
        improving = asyncio.create_task(self._improved(self._improve))
        try:
            while not improving.done() and idle():
                await asyncio.wait({improving}, timeout=_POLL_S)
        finally:
            if not improving.done():
                improving.cancel()
                await asyncio.gather(improving, return_exceptions=True)

    async def _improved(self, improve: Improve) -> None:
        try:
            async with self._quiet():
                self._better = await improve()
            if self._better:
                return
        except BusyError as busy:
            self._note("not_improved", detail=str(busy)[:500])
            self._calm_s = 0.0
            return
        except (SetupError, OSError) as fault:
            self._note("not_improved", detail=str(fault)[:500])
        self._improve = None

    async def _due(self) -> str:
        """Say why the parent must be replaced; one that the environment has left behind gives no more children."""
        parent, rules = self._parent, self._rules
        if parent is None:
            return "first"
        if not parent.alive:
            return "died"
        if await asyncio.to_thread(stamp, self._sandbox.host.interpreter) != self._stamp:
            self._why = "environment_changed"
            return "environment"
        if parent.age_s > rules.age_s:
            return "age"
        if self._better:
            return "better"
        if parent.births > rules.births:
            return "births"
        return "memory" if parent.resident_bytes > parent.first_bytes + rules.grown_bytes else ""

    async def _wait(self, seconds: float) -> None:
        """Wait, but no longer than the parent lives."""
        if self._parent is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._parent.ended()

    async def _clear(self) -> None:
        """End the parents that were replaced and have no child left."""
        for parent in [parent for parent in self._retired if not parent.busy or not parent.alive]:
            self._retired.remove(parent)
            await parent.end()

    async def close(self) -> None:
        """End every parent and what is left of its children."""
        parents, self._parent, self._retired = [self._parent, *self._retired], None, []
        self._why = self._why or "closed"
        for parent in parents:
            if parent is not None:
                await parent.end()

    def waiting(self) -> tuple[int, ...]:
        """Give the pids of the children that wait for a job, ready."""
        return tuple(child.lines.pid for child in self.children() if child.lines.ready)

    def children(self) -> tuple[Child, ...]:
        """Give all children that wait, those of parents that were replaced too."""
        parents = [parent for parent in (self._parent, self._coming, *self._retired) if parent is not None]
        return tuple(child for parent in parents for child in parent.children if child.born.alive)

    async def dismiss(self) -> None:
        """End every child that waits: what they hold may be unwell. Others take their place in time."""
        for parent in (self._parent, self._coming, *self._retired):
            if parent is not None:
                await parent.dismiss()
        self._refill.set()

    def pids(self) -> tuple[int, ...]:
        """The parents' pids, as the host numbers them."""
        return tuple(parent.pid for parent in (self._parent, *self._retired) if parent is not None)
