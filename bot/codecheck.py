"""The shell side of the limited child that parses code: starts it, feeds it, and turns its end into an answer.

Law: whatever a learner wrote, an answer comes back in bounded time; a child that dies means "too complex".
"""

import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bot.engine.events import CodeChecked, SyntaxTrouble
from bot.engine.intake.types import SyntaxCode

_CHILD = Path(__file__).with_name("codecheck_child.py")
_WALL_S = 10.0
_AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class CodeVerdict:
    """`index` of the first candidate that parses; `error` is the first one's trouble, even when another parses."""

    index: int | None
    error: SyntaxTrouble | None


class LimitedChild:
    """A checker that starts one child a check, and no more than a few at once."""

    def __init__(self, interpreter: str = sys.executable, wall_s: float = _WALL_S) -> None:
        self._interpreter = interpreter
        self._wall_s = wall_s
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def check(self, check: str, candidates: Sequence[str]) -> CodeChecked:
        """Parse; never raises for what a learner wrote.

        Raises:
            OSError: when no child can be started at all, which is our fault.
        """
        async with self._places:
            verdict = await parse(candidates, self._interpreter, self._wall_s)
        return CodeChecked(check, verdict.index, verdict.error)


async def parse(candidates: Sequence[str], interpreter: str = sys.executable, wall_s: float = _WALL_S) -> CodeVerdict:
    """Have a limited child parse the candidates in order.

    Raises:
        OSError: when no child can be started.
    """
    child = await asyncio.create_subprocess_exec(
        interpreter,
        *("-I", "-S", "-B", "-W", "ignore", str(_CHILD)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={},
        cwd="/",
    )
    try:
        asked = json.dumps({"candidates": list(candidates)}).encode("ascii")
        answer, _ = await asyncio.wait_for(child.communicate(asked), wall_s)
    except (TimeoutError, BrokenPipeError, ConnectionResetError):
        return _too_complex()
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()
    return _read(answer, len(candidates)) if child.returncode == 0 else _too_complex()


def _too_complex() -> CodeVerdict:
    return CodeVerdict(None, SyntaxTrouble(SyntaxCode.TOO_COMPLEX, 1, 1, ""))


def _read(answer: bytes, count: int) -> CodeVerdict:
    try:
        found = json.loads(answer)
        index, trouble = found["index"], found["trouble"]
        error = None
        if trouble is not None:
            error = SyntaxTrouble(
                SyntaxCode(trouble["code"]), int(trouble["line"]), int(trouble["column"]), str(trouble["text"])
            )
    except (ValueError, KeyError, TypeError):
        return _too_complex()
    if index is not None and not (isinstance(index, int) and 0 <= index < count):
        return _too_complex()
    return CodeVerdict(index, error)
