"""Proves a warm parent before it serves: every wall of its children, the parent out of reach, nothing left to the next.

Law: an attempt that could not be made proves nothing. Texts here are for operators.
"""

import asyncio
import json
import secrets
from dataclasses import replace
from pathlib import Path

from sandbox_runner.protocol import Ending, Job, JobKind, Limits, Result
from sandbox_runner.sandbox.port import Confined, Staged
from sandbox_runner.sandbox.probing import CUDA, Setting, Try, probe
from sandbox_runner.warm.parent import Parent

_LIMITS = Limits(run_s=10.0, processes=48)
_CHILDREN = 3
_ALONE = 2
"""The last child begins when those before have ended, the others beside each other."""


class OnlyWarm:
    """A sandbox whose every job is a child of one parent: what cannot be born is a fault."""

    def __init__(self, parent: Parent) -> None:
        self._parent = parent

    async def start(self, job: Staged) -> Confined:
        """Give a child.

        Raises:
            SetupError: there is none.
        """
        return await self._parent.bear(job)

    async def close(self) -> None:
        """Nothing is kept here."""


class OnlyWaited(OnlyWarm):
    """The same, but every child stood and waited, behind all its walls, before its job came."""

    async def start(self, job: Staged) -> Confined:
        """Have a child wait for such a job, then give it.

        Raises:
            SetupError: there is none.
        """
        child = await self._parent.expect(replace(job, code=b""))
        await child.lines.hear_ready()
        return await self._parent.bear(job, child)


async def prove_walls(attempt: Try, setting: Setting, stand: tuple[str, ...]) -> str:
    """Try every wall inside warm children; say which do not stand of those that `stand` after a cold start.

    A GPU that the setting does not lend is none of them: children that wait on one prove it each by a kernel.
    """
    walls = await probe(attempt, setting)
    tried = [wall for wall in walls if wall.name != CUDA or not setting.no_gpu]
    missing = [wall for wall in tried if wall.name in stand and not wall.stands]
    return "; ".join(f"{wall.name}: {wall.detail}" for wall in missing)


async def prove_parent(attempt: Try, parent: int) -> str:
    """Reach from inside for the parent of this pid, and for other children, alive and ended; say what gave way."""
    beside = await asyncio.gather(*(_one(attempt, parent, slot) for slot in range(_ALONE)))
    results = [*beside, *[await _one(attempt, parent, 0) for _ in range(_CHILDREN - _ALONE)]]
    drawn: list[str] = []
    for result in results:
        try:
            said = json.loads(result.stdout.head)
            drawn += [str(one) for one in said.pop("chance")]
        except (ValueError, KeyError, AttributeError, TypeError):
            why = result.stderr.head[-300:].strip()
            return f"not proven: {result.ending.value} {why} {[note.values for note in result.notes]}"
        passed = [f"{name}: {why}" for name, why in said.items() if why]
        if passed or result.ending is not Ending.OK:
            last = result.fault.last_line if result.fault is not None else ""
            return "; ".join(passed) or f"not proven: {result.ending.value} {last}".strip()
    return "" if len(set(drawn)) == len(drawn) else "children drew the same by chance"


async def _one(attempt: Try, parent: int, slot: int) -> Result:
    mark = secrets.token_hex(8)
    source = Path(__file__).with_name("attempt.py").read_text(encoding="utf-8")
    source = source.replace('"@FACTS@"', repr(json.dumps({"parent": parent, "mark": mark})))
    job = Job(f"warm-{mark}", JobKind.RUN, source, "probe", limits=_LIMITS)
    return await attempt(job, slot)
