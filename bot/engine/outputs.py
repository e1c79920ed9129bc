"""What a run left: its streams, its error with the learner's own line, remarks and files.

Law: what is too long is cut in the middle, never at its end; everything here is untrusted and stays in code.
"""

import re

from bot.engine.figures import plain, size
from bot.engine.moment import Moment
from bot.engine.replies import Attachment, Block, Bullets, Code, CodeBlock, Number, Paragraph, Spans
from sandbox_runner.protocol import Ending, Note, Result, Stream

_SHOWN = 3000
"""Characters of a stream that a reply shows."""
_LINE = 300
"""Characters of one line of the learner's code that is shown."""
_MOST_NOTES = 8
_MOST_ATTACHED = 8 << 20
"""Characters of base64 that a reply carries."""
CUT = "…"
_NOT_DEFINED = re.compile(r"name '(\w+)' is not defined")
_IMPORTS = {
    "np": "import numpy as np",
    "plt": "import matplotlib.pyplot as plt",
    "nn": "from torch import nn",
    "F": "import torch.nn.functional as F",
    "Counter": "from collections import Counter",
    "defaultdict": "from collections import defaultdict",
    **{
        name: f"import {name}"
        for name in (
            "collections functools itertools json math numpy os random re statistics sys time timeit torch transformers"
        ).split()
    },
}
"""Names that are only ever missing because the line that brings them is."""


def is_cut_badly(result: Result) -> bool:
    """Tell whether code was refused not for its Python but for how it is cut into variants: a flag says how."""
    return result.ending is Ending.SYNTAX_ERROR and bool(result.flags)


def fault(moment: Moment, result: Result, source: str) -> tuple[Block, ...]:
    """Show the learner's error: its last line, and the line of the code it came from."""
    found = result.fault
    if found is None:
        return ()
    words = moment.words
    blocks: list[Block] = []
    hint = f"error.{found.name.lower()}"
    line = _line_of(source, found.line)
    if found.line is not None and line:
        title = words.text("fault.line", line=found.line)
        blocks.append(CodeBlock(line, "python", title))
    told_in_full = found.last_line in result.stderr.head + result.stderr.tail
    if found.last_line and not told_in_full and not is_cut_badly(result):
        blocks.append(CodeBlock(found.last_line[:_SHOWN], "pytb", words.text("fault.title")))
    missing = _NOT_DEFINED.search(found.last_line) if found.name == "NameError" else None
    if missing and missing[1] in _IMPORTS:
        brings = Code(_IMPORTS[missing[1]])
        blocks.append(Paragraph(words.say("error.not_imported", name=Code(missing[1]), line=brings)))
    elif words.has(hint):
        blocks.append(Paragraph(words.say(hint)))
    return tuple(blocks)


def streams(moment: Moment, result: Result) -> tuple[Block, ...]:
    """Show what was printed and the last expression's value."""
    words = moment.words
    out = _stream(moment, result.stdout, words.text("output.stdout"), "text")
    value: tuple[Block, ...] = ()
    if result.value:
        value = (CodeBlock(middle_cut(result.value), "text", words.text("output.value")),)
    language = "pytb" if result.fault else "text"
    errors = _stream(moment, result.stderr, words.text("output.stderr"), language)
    return (*out, *value, *errors)


def notes(moment: Moment, result: Result) -> tuple[Block, ...]:
    """Word the remarks of a run."""
    items = tuple(_note(moment, note) for note in result.notes[:_MOST_NOTES])
    missing = moment.words.say("note.walls_missing") if result.accepted_missing else ()
    listed = (*items, missing) if missing else items
    return (Bullets(listed),) if listed else ()


def files(moment: Moment, result: Result) -> tuple[Block, ...]:
    """Attach the files and figures that came back, as many as a reply carries."""
    attached: list[Block] = []
    room = _MOST_ATTACHED
    for file in result.files:
        if len(file.data) <= room:
            attached.append(Attachment(file.name, file.media, file.data))
            room -= len(file.data)
    left = len(result.files) - len(attached)
    if left:
        attached.append(Paragraph(moment.words.say("output.files_left_out", n=left)))
    return tuple(attached)


def middle_cut(text: str, most: int = _SHOWN) -> str:
    """Keep the beginning and the end of a long text."""
    text = text.rstrip("\n")
    if len(text) <= most:
        return text
    head, tail = most // 3, most - most // 3
    return f"{text[:head]}\n{CUT}\n{text[-tail:]}"


def _stream(moment: Moment, stream: Stream, title: str, language: str) -> tuple[Block, ...]:
    joint = f"\n{CUT}\n" if stream.dropped and stream.tail else ""
    whole = f"{stream.head}{joint}{stream.tail}".rstrip("\n")
    if not whole.strip():
        return ()
    block = CodeBlock(middle_cut(whole), language, title)
    if stream.dropped or len(whole) > _SHOWN:
        return (block, Paragraph(moment.words.say("output.cut", whole=Number(size(stream.bytes)))))
    return (block,)


def _line_of(source: str, line: int | None) -> str:
    lines = source.splitlines()
    return lines[line - 1].strip()[:_LINE] if line is not None and 1 <= line <= len(lines) else ""


def _note(moment: Moment, note: Note) -> Spans:
    words = moment.words
    key = f"note.{note.code}"
    if not words.has(key):
        return words.say("note.unnamed")
    count = note.values.get("count", note.values.get("n", 0))
    figures = {name: _shown(value) for name, value in note.values.items() if name not in {"key", "n"}}
    return words.say(key, n=count if isinstance(count, int) else 0, **figures)


def _shown(value: str | float) -> Spans:
    if isinstance(value, str):
        return (Code(value[:120]),) if value else ()
    return (Number(plain(value)),)
