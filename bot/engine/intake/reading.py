"""What chat clients, keyboards and web pages do to code, undone: a text or a file becomes candidates to be parsed.

Law: pure and linear; nothing is parsed or run here, and nothing is changed in silence. The first candidate is what was
sent, the second what it may have been: the limited child says which one is Python.
"""

import re
from collections.abc import Sequence

from bot.engine.events import Entity
from bot.engine.intake.bare import asks_to_run, behind_command, part, set_tracebacks_aside
from bot.engine.intake.bytes import Kind, Text, decode
from bot.engine.intake.clean import clean_marks, has_code
from bot.engine.intake.draft import DEFAULT_NAME, Draft, finish, session
from bot.engine.intake.fences import Block, Tongue, fenced
from bot.engine.intake.lex import INVISIBLE
from bot.engine.intake.lines import Look, look
from bot.engine.intake.magics import explain
from bot.engine.intake.marked import entity_blocks, inline_code, newlines, with_signs
from bot.engine.intake.notebooks import code_cells
from bot.engine.intake.prompts import is_session, without_line_numbers, without_quote_marks
from bot.engine.intake.types import (
    MAX_CHARACTERS,
    Candidate,
    Code,
    Intake,
    NotCode,
    Notice,
    NoticeKind,
    Reason,
    Refused,
    Repair,
    RepairKind,
    SyntaxCode,
    Traceback,
)

# the door of intake: who uses it needs no other module of it
__all__ = [
    "Candidate",
    "Code",
    "Intake",
    "NotCode",
    "Notice",
    "NoticeKind",
    "Reason",
    "Refused",
    "Repair",
    "RepairKind",
    "SyntaxCode",
    "Traceback",
    "asks_to_time",
    "join_parts",
    "read_code",
    "read_file",
    "read_text",
]

_MARKS = "".join(INVISIBLE)
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")


_SUM = re.compile(r"\d+(?:\.\d+)? ?(?:/|//|\*\*?|%|\+) ?\d+(?:\.\d+)?", re.ASCII)
"""Two numbers with a sign between them, alone: to be computed. A dash is left out, for it makes ranges too."""


def join_parts(parts: Sequence[str]) -> str:
    """Join the parts into which a client has split one paste: it cuts anywhere, so nothing comes between."""
    return "".join(parts)


def read_text(text: str, entities: tuple[Entity, ...] = ()) -> Intake:
    """Read what a learner wrote in chat. Offsets of entities count UTF-16 units of `text` as it was delivered."""
    if len(text) > MAX_CHARACTERS:
        return _too_long(len(text))
    blocks, outside = entity_blocks(text, entities)
    if not blocks:
        blocks, outside = fenced(newlines(text))
    if blocks:
        return _of_blocks(blocks, newlines("\n".join(outside)))
    return _of_bare(text, entities)


def read_code(source: str, filename: str = DEFAULT_NAME) -> Intake:
    """Read what came by a way made for code: no guess is made whether it is code."""
    if len(source) > MAX_CHARACTERS:
        return _too_long(len(source))
    lines = newlines(source).split("\n")
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith(("```", "~~~")):
        blocks, outside = fenced("\n".join(lines))
        return _of_blocks(blocks, "\n".join(outside), filename)
    return _of_chosen([lines], filename)


def asks_to_time(source: str) -> bool:
    """Whether code that was read says itself, by `%timeit`, that it is to be timed."""
    return explain(source.split("\n"))[2] > 0


def read_file(name: str, data: bytes) -> Intake:
    """Read an uploaded file: `.py`, `.ipynb`, or text in which code may stand. The name is untrusted."""
    found = decode(name, data)
    if isinstance(found, Refused):
        return found
    filename = _safe_name(found.name)
    if found.kind is Kind.NOTEBOOK:
        return _of_notebook(found.text, filename)
    if len(found.text) > MAX_CHARACTERS:
        return _too_long(len(found.text))
    read = read_code(found.text, filename) if found.kind is Kind.PYTHON else _of_text_file(found, filename)
    if found.notices and isinstance(read, Code):
        return Code(read.candidates, read.filename, found.notices + read.notices, read.cells)
    return read


def _of_text_file(found: Text, filename: str) -> Intake:
    read = read_text(found.text)
    match read:
        case NotCode():
            return Refused(Reason.NO_CODE)
        case Code():
            return Code(read.candidates, filename, read.notices, read.cells)
        case _:
            return read


def _of_notebook(text: str, filename: str) -> Intake:
    cells = code_cells(text)
    if isinstance(cells, Refused):
        return cells
    draft = Draft([], filename, [Notice(NoticeKind.NOTEBOOK_JOINED, None, (("cells", str(len(cells))),))])
    starts: list[int] = []
    timed = 0
    bounded = False
    for cell in cells:
        if draft.lines:
            # `%%timeit` times to the next cell mark: without one it would swallow the cells below it
            draft.lines.append("# %%" if bounded else "")
        bounded = cell.lstrip().startswith("%%timeit")
        starts.append(len(draft.lines) + 1)
        # a magic of a whole cell ends with the cell: each is read by itself
        lines, notices, kept = explain(clean_marks(cell.split("\n"))[0])
        timed += kept
        draft.notices.extend(Notice(seen.kind, (seen.line or 1) + starts[-1] - 1, seen.values) for seen in notices)
        draft.lines.extend(lines)
    draft.cells = tuple(starts)
    if sum(len(line) + 1 for line in draft.lines) > MAX_CHARACTERS:
        return _too_long(sum(len(line) + 1 for line in draft.lines))
    return finish(draft)


def _of_blocks(blocks: list[Block], outside: str, filename: str = DEFAULT_NAME) -> Intake:
    """Join the blocks that are Python, in order."""
    sure = any(
        block.tongue is Tongue.PYTHON or (block.tongue is Tongue.UNSAID and part(block.text.split("\n")).code)
        for block in blocks
    )
    chosen = [block for block in blocks if _is_code(block, sure=sure)]
    if chosen:
        read = _of_chosen([block.text.split("\n") for block in chosen], filename)
        set_aside = len(blocks) - len(chosen)
        if isinstance(read, Code) and set_aside:
            notice = Notice(NoticeKind.OTHER_BLOCKS_SET_ASIDE, None, (("count", str(set_aside)),))
            return Code(read.candidates, read.filename, (*read.notices, notice), read.cells)
        return read
    for block in blocks:
        last = set_tracebacks_aside(block.text.split("\n"))[1]
        if last is not None:
            return Traceback(last)
    bare = part(outside.split("\n"))
    if bare.code:
        return finish(Draft(bare.code, filename, bare.notices))
    others = [block for block in blocks if block.tongue is Tongue.OTHER]
    if others and (asks_to_run(outside) or 2 * len(outside.strip()) < sum(len(block.text) for block in others)):
        return Refused(Reason.OTHER_LANGUAGE, (("language", others[0].language),))
    return NotCode()


def _is_code(block: Block, *, sure: bool) -> bool:
    """Whether a block is to be run. `sure`: another one is Python without doubt, so an untagged one has to show it."""
    lines = block.text.split("\n")
    match block.tongue:
        case Tongue.PYTHON:
            return True
        case Tongue.OUTPUT:
            return False
        case Tongue.OTHER:
            first = next((line for line in lines if line.strip()), "")
            return is_session([first])
        case Tongue.UNSAID:
            pass
    if is_session(lines) or part(lines).code:
        return True
    kept = [line for line in set_tracebacks_aside(lines)[0] if line.strip()]
    return not sure and any(look(line) in {Look.PERHAPS, Look.COMMENT} for line in kept)


def _of_chosen(blocks: list[list[str]], filename: str) -> Intake:
    draft = Draft([], filename)
    last_line: str | None = None
    for number, block in enumerate(blocks):
        lines, last, blanked = set_tracebacks_aside(block)
        if blanked:
            last_line = last
            draft.notices.append(Notice(NoticeKind.TRACEBACK_SET_ASIDE))
            lines = _trimmed(lines)
        if is_session(_unled(lines)):
            lines = session(_unled(lines), draft.notices)
        if number:
            draft.lines = [*_trimmed(draft.lines), ""]
            lines = _trimmed(lines)
        draft.lines.extend(lines)
    if len(blocks) > 1:
        draft.notices.append(Notice(NoticeKind.BLOCKS_JOINED, None, (("count", str(len(blocks))),)))
    if last_line is not None and not has_code(draft.lines):
        return Traceback(last_line)
    return finish(draft)


def _of_bare(text: str, entities: tuple[Entity, ...]) -> Intake:
    lines = newlines(text).split("\n")
    lines = without_quote_marks(lines) or lines
    unled = _unled(lines)
    if is_session(unled):
        notices: list[Notice] = []
        return finish(Draft(session(unled, notices), notices=notices))
    numbered = without_line_numbers(lines)
    if numbered is not None and part(numbered).code:
        return finish(Draft(lines, restored=numbered), RepairKind.LINE_NUMBERS)
    bare = part(lines)
    if bare.code:
        draft = Draft(bare.code, notices=bare.notices)
        _restore(draft, text, entities)
        return finish(draft)
    spans = inline_code(text, entities)
    if spans:
        return finish(Draft(spans))
    if bare.last_line is not None:
        return Traceback(bare.last_line)
    if any(line.startswith("# ") for line in lines) and not has_code(lines):
        return Refused(Reason.NO_CODE)
    if _SUM.fullmatch(text.strip()):
        return finish(Draft([text.strip()]))
    led = behind_command(lines)
    if led:
        return finish(Draft([led], notices=[Notice(NoticeKind.PROSE_SET_ASIDE)]))
    return NotCode()


def _restore(draft: Draft, text: str, entities: tuple[Entity, ...]) -> None:
    """Put signs back that a client took for formatting, as a repair and with a notice."""
    signed = with_signs(text, entities)
    if signed is None:
        return
    restored = part(signed.split("\n")).code
    if len(restored) != len(draft.lines) or restored == draft.lines:
        return
    draft.restored = restored
    for number, (before, after) in enumerate(zip(draft.lines, restored, strict=True), 1):
        if before != after:
            values = (("before", before.strip()), ("after", after.strip()))
            draft.notices.append(Notice(NoticeKind.FORMATTING_EATEN, number, values))


def _unled(lines: list[str]) -> list[str]:
    """Take marks that nobody sees off the beginnings of lines, where a prompt may stand."""
    return [line.lstrip(_MARKS) if line[:1] in INVISIBLE else line for line in lines]


def _trimmed(lines: list[str]) -> list[str]:
    """Give the lines without the empty ones at both ends."""
    first, last = 0, len(lines)
    while first < last and not lines[first].strip():
        first += 1
    while last > first and not lines[last - 1].strip():
        last -= 1
    return lines[first:last]


def _safe_name(name: str) -> str:
    """Give a name for the code: the file's own when it is plain ASCII, always ending `.py`."""
    stem = name.rpartition(".")[0]
    return f"{stem}.py" if stem and set(stem) <= _SAFE and not stem.startswith((".", "-")) else DEFAULT_NAME


def _too_long(count: int) -> Refused:
    return Refused(Reason.TOO_LONG, (("count", str(count)), ("limit", str(MAX_CHARACTERS))))
