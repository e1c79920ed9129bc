"""Fenced blocks, inline code and platform entities in a text: which stretches are marked as code, and as what.

Law: one pass over the lines; a fence that never closes goes to the end of the text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.engine.events import Entity
from bot.engine.intake.lex import without_invisible

_TICKS = re.compile(r"`{3,}")
_TILDES = re.compile(r"\s*(~{3,})")
_INLINE = re.compile(r"`([^`\n]+)`")
_WORD = re.compile(r"[\w.+#-]+")
_OTHER = frozenset(
    "bash sh shell zsh fish console cmd bat powershell ps1 c cpp c++ cxx h hpp cuda cu java javascript js jsx ts tsx"
    " typescript go golang rust rs ruby rb r julia jl matlab octave php perl lua swift kotlin scala sql html xml css"
    " dockerfile makefile cmake asm nasm".split()
)
_OUTPUT = frozenset(
    "text txt plaintext plain output out stdout stderr log json jsonc yaml yml toml ini cfg csv md markdown diff patch"
    " latex tex math mermaid pytb py3tb traceback python-traceback none-text".split()
)
_PYTHON = frozenset("python py pycon ipython ipython3 pyi python-repl pyw sage بايثون كود code python_console".split())
_EMPTY = frozenset("none null nohighlight".split())
_ARABIC = re.compile(r"[\u0620-\u064a]")


class Tongue(StrEnum):
    """What a block's tag says it is."""

    PYTHON = "python"
    UNSAID = "unsaid"
    OUTPUT = "output"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Block:
    """A marked stretch. `language` is the tag as written, in small letters."""

    text: str
    tongue: Tongue
    language: str = ""


def tongue(tag: str) -> Tongue:
    """Say what a language tag means; an unknown word says nothing."""
    word = tag.strip().strip("{}.").lower()
    bare = word.rstrip("0123456789.")
    if not word or word in _EMPTY:
        return Tongue.UNSAID
    if word in _OUTPUT:
        return Tongue.OUTPUT
    if word in _PYTHON or bare in _PYTHON:
        return Tongue.PYTHON
    if word in _OTHER or bare in _OTHER:
        return Tongue.OTHER
    return Tongue.UNSAID


@dataclass(slots=True)
class _Open:
    mark: str
    count: int
    indent: int
    language: str
    lines: list[str]


def fenced(text: str) -> tuple[list[Block], list[str]]:
    """Find the fenced blocks; give them and the lines outside of them."""
    blocks: list[Block] = []
    outside: list[str] = []
    now: _Open | None = None
    triple = ""
    for raw in text.split("\n"):
        if now is not None:
            now = _inside(now, raw, blocks, outside)
            continue
        line = without_invisible(raw)
        opened = None if triple else _opening(line)
        if opened is None:
            outside.append(raw)
            triple = _triple_after(line, triple)
            continue
        start, now = opened
        outside.append(line[:start])
        rest = now.lines.pop() if now.lines else ""
        if rest:
            now = _inside(now, rest.strip(), blocks, outside)
    if now is not None:
        blocks.append(_block(now))
    return blocks, outside


def _triple_after(line: str, triple: str) -> str:
    # a fence inside a docstring of code that was pasted bare is the learner's text, not a mark
    for quote in ('"""', "'''"):
        if not triple and _ARABIC.search(line.partition(quote)[0]):
            continue
        if triple in {"", quote} and line.count(quote) % 2:
            triple = "" if triple else quote
    return triple


def _opening(line: str) -> tuple[int, _Open] | None:
    tilde = _TILDES.match(line)
    ticks = _TICKS.search(line)
    if tilde:
        start, mark, count, rest = tilde.start(1), "~", len(tilde.group(1)), line[tilde.end() :]
    elif ticks:
        start, mark, count, rest = ticks.start(), "`", len(ticks.group()), line[ticks.end() :]
    else:
        return None
    before = line[:start]
    if before.lstrip().startswith("#") or (any(q in before for q in "\"'") and any(c in before for c in "=(")):
        return None
    indent = len(before) if not before.strip() else 0
    language, content = _info(rest)
    return start, _Open(mark, count, indent, language, [content] if content else [])


def _info(rest: str) -> tuple[str, str]:
    """Part the text after an opening fence into a tag and the code that begins on the same line."""
    shown = rest.strip()
    found = _WORD.match(shown.lstrip("{. "))
    if not found or not found.group()[0].isalpha():
        return "", shown
    word = found.group().lower()
    after = shown.lstrip("{. ")[found.end() :]
    known = (tongue(word) is not Tongue.UNSAID or word in _EMPTY) and after.lstrip()[:1] not in tuple("=+-*/.,[(")
    if not after.strip("} "):
        return word, ""
    if known and after[0] in " \t}:,{`":
        content = after.lstrip(" \t") if after[0] in " \t`" else ""
        return word, "" if _attribute(content) else content
    return "", rest.strip("\r")


def _attribute(content: str) -> bool:
    """Whether it is a fence's attribute (`title="x"`, `{3-5}`, `3`), not code."""
    return content.startswith("{") or content[:6] in {"title=", "lineno"} or content.strip().isdigit()


def _inside(now: _Open, raw: str, blocks: list[Block], outside: list[str]) -> _Open | None:
    """Take a line of an open block: it goes on, or this line closes it."""
    line = without_invisible(raw)
    end = _closing(now, line)
    if end is None:
        now.lines.append(_unindented(raw, now.indent))
        return now
    content, rest = end
    if content.strip():
        now.lines.append(_unindented(content, now.indent))
    blocks.append(_block(now))
    if not rest:
        return None
    opened = _opening(rest)
    if opened is None:
        outside.append(rest)
        return None
    start, then = opened
    outside.append(rest[:start])
    more = then.lines.pop() if then.lines else ""
    return then if not more else _inside_once(then, more, blocks, outside)


def _inside_once(now: _Open, line: str, blocks: list[Block], outside: list[str]) -> _Open | None:
    end = _closing(now, line)
    if end is None:
        now.lines.append(line)
        return now
    now.lines.append(end[0])
    blocks.append(_block(now))
    outside.append(end[1])
    return None


def _closing(now: _Open, line: str) -> tuple[str, str] | None:
    """Part a line that closes the block into the code before and the text after; None when it does not close."""
    shown = line.strip()
    if now.mark == "~":
        return ("", "") if len(shown) >= now.count and not shown.strip("~") else None
    if "```" not in line:
        return None
    if len(shown) >= now.count and not shown.strip("`"):
        return "", ""
    for found in _TICKS.finditer(line):
        if len(found.group()) < now.count:
            continue
        rest = line[found.end() :].strip()
        # ticks amid a line close it only when no string can hold them
        if not rest or not any(quote in rest for quote in "\"'"):
            return line[: found.start()], rest
    return None


def _unindented(line: str, indent: int) -> str:
    if not indent:
        return line
    lead = len(line) - len(line.lstrip(" "))
    return line[min(indent, lead) :]


def _block(now: _Open) -> Block:
    return Block("\n".join(now.lines), tongue(now.language), now.language)


def inline(text: str) -> tuple[list[str], str]:
    """Find single-backtick spans; give them and the text without them."""
    spans = [found.group(1).strip() for found in _INLINE.finditer(text)]
    return spans, _INLINE.sub(" ", text) if spans else text


@dataclass(frozen=True, slots=True)
class Marked:
    """An entity with its place in code points."""

    entity: Entity
    start: int
    end: int


def located(text: str, entities: Sequence[Entity], kinds: frozenset[str]) -> list[Marked]:
    """Turn UTF-16 offsets into code points, for the entities of these kinds, in order of place.

    An offset beyond the text, or inside a surrogate pair, is moved to the nearest place that exists.
    """
    wanted = sorted((entity for entity in entities if entity.kind in kinds), key=lambda entity: entity.offset)
    if not wanted:
        return []
    places = sorted({max(0, at) for entity in wanted for at in (entity.offset, entity.offset + max(0, entity.length))})
    found: dict[int, int] = {}
    units = 0
    index = 0
    for at in places:
        while units < at and index < len(text):
            units += 2 if ord(text[index]) > 0xFFFF else 1  # noqa: PLR2004 - the end of the basic plane
            index += 1
        found[at] = index
    return [
        Marked(entity, found[max(0, entity.offset)], found[max(0, entity.offset + max(0, entity.length))])
        for entity in wanted
    ]
