"""Write code: the learner's lines with a check behind them, run in the sandbox; what the check prints is compared.

Law: only what is printed behind a mark made for this run counts, so that the learner's own output is no answer. The
check runs in the learner's process: it tells a learner whether the code is right, and guards nothing.
"""

import math
import re

from bot.engine.quizzes.grades import Grade, Verdict, near_miss
from content.schema import WriteCode
from sandbox_runner.protocol import Stream

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_LEAST_REL = 1e-12
"""Relative error by which the same figure may be written in two ways."""


def composed(source: str, check: str, mark: str) -> str:
    """Put the check behind the learner's code, whose line numbers stay."""
    return f"{source.rstrip()}{_between(mark)}{check}"


def own_of(source: str, mark: str) -> str:
    """Give the learner's part of what `composed` made."""
    return source.rpartition(_between(mark))[0]


def _between(mark: str) -> str:
    return f"\n\nprint({f'{chr(10)}{mark}'!r})\n"


def parted(stdout: Stream, mark: str) -> tuple[Stream, str] | None:
    """Give the learner's own output and what the check printed; None when the check was not reached."""
    kept = stdout.tail if stdout.dropped else stdout.head + stdout.tail
    own, found, printed = kept.rpartition(f"\n{mark}\n")
    if not found:
        return None
    before = Stream(stdout.head, own, stdout.bytes, stdout.dropped) if stdout.dropped else Stream(own, "", len(own))
    return before, printed


def grade(item: WriteCode, printed: str, expected: str) -> Grade:
    """Grade what the check printed."""
    if _alike(printed, expected, item.rel):
        return Grade(Verdict.RIGHT)
    near = near_miss(item.near, (_alike(printed, miss.answer, item.rel) for miss in item.near))
    return near or Grade(Verdict.WRONG)


def _alike(printed: str, expected: str, rel: float) -> bool:
    """Compare line by line without the spaces at the ends; numbers within `rel`."""
    one, other = ("\n".join(line.rstrip() for line in text.strip().splitlines()) for text in (printed, expected))
    if one == other:
        return True
    if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=max(rel, _LEAST_REL)) for a, b in pairs)
