"""Code on its way to be candidates: the last steps, common to every way in.

Law: every change is counted in a notice or shown as a repair.
"""

from dataclasses import dataclass, field

from bot.engine.intake.bare import part
from bot.engine.intake.clean import candidates, clean_marks, has_code, homoglyphs
from bot.engine.intake.magics import explain
from bot.engine.intake.prompts import first_prompt, without_prompts
from bot.engine.intake.types import Code, Notice, NoticeKind, Reason, Refused, RepairKind

DEFAULT_NAME = "code.py"


@dataclass(slots=True)
class Draft:
    """Code on its way to be candidates."""

    lines: list[str]
    filename: str = DEFAULT_NAME
    notices: list[Notice] = field(default_factory=list)
    restored: list[str] | None = None
    cells: tuple[int, ...] = ()


def session(lines: list[str], notices: list[Notice]) -> list[str]:
    """Take a session's prompts off; code that was written above the first prompt stays."""
    first = first_prompt(lines)
    above = part(lines[:first]).code
    bare = without_prompts(lines[first:])
    notices.append(Notice(NoticeKind.PROMPTS_REMOVED))
    if bare.dropped:
        notices.append(Notice(NoticeKind.OUTPUT_DROPPED, None, (("count", str(bare.dropped)),)))
    return [*above, *bare.lines]


def finish(draft: Draft, kind: RepairKind = RepairKind.MARKUP) -> Code | Refused:
    """Clean up, explain what is not Python, and make the candidates."""
    lines, marks = clean_marks(draft.lines)
    lines, magics, timed = explain(lines)
    restored = draft.restored
    if restored is not None:
        restored, more, timed_too = explain(clean_marks(restored)[0])
        magics, timed = magics or more, timed or timed_too
    if not timed and not has_code(lines):
        shelled = any(seen.kind in {NoticeKind.SHELL_LINE, NoticeKind.MAGIC_LINE} for seen in [*draft.notices, *magics])
        return Refused(Reason.ONLY_MAGICS if shelled else Reason.NO_CODE)
    notices = (*draft.notices, *marks, *magics, *homoglyphs(lines))
    return Code(candidates(lines, restored, kind), draft.filename, notices, draft.cells)
