"""Where strings and comments lie in Python that may be damaged, one physical line at a time.

Law: linear. Every character is looked at a bounded number of times; no expression here repeats a repetition.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

DOUBLES = '"“”„‟″＂〝〞❝❞'
SINGLES = "'‘’‚‛′＇´ʼ❛❜"
INVISIBLE = frozenset(
    "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"
)
"""Marks that nobody sees: outside strings and comments they mean nothing in Python."""
QUIET = frozenset("\u200c\u200d\ufe0e\ufe0f")
"""Marks that belong to emoji and to joined scripts: no word about them inside a string."""

_STOP = re.compile(r"[\"'#]")
_STOP_LOOSE = re.compile("[#" + DOUBLES + SINGLES + "]")
_RUN_DOUBLE = re.compile("[" + DOUBLES + "]{3}")
_RUN_SINGLE = re.compile("[" + SINGLES + "]{3}")
_ENDS = {
    '"': re.compile(r'\\.|"'),
    "'": re.compile(r"\\.|'"),
    '"""': re.compile(r'\\.|"""'),
    "'''": re.compile(r"\\.|'''"),
}
_OPEN = frozenset("([{")
_BRACKET = re.compile(r"[()\[\]{}]")


class Part(StrEnum):
    """What a stretch of a line is."""

    CODE = "code"
    STRING = "string"
    COMMENT = "comment"


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of one line: `[start, end)` in characters."""

    part: Part
    start: int
    end: int


@dataclass(slots=True)
class Lexer:
    """The state carried from line to line. `loose` takes three curly quotes for a triple quote as well."""

    loose: bool = False
    triple: str = ""
    depth: int = 0
    continued: bool = False
    single: str = ""
    open_string: bool = False

    @property
    def fresh(self) -> bool:
        """Whether the next line begins a statement."""
        return not (self.triple or self.depth or self.continued or self.single)

    @property
    def in_string(self) -> bool:
        """Whether the next line begins inside a string."""
        return bool(self.triple or self.single)

    def feed(self, line: str) -> list[Piece]:
        """Split the next line (without its newline) into pieces, and move on."""
        pieces: list[Piece] = []
        at = 0
        self.open_string = False
        if self.triple:
            at = self._close_triple(line, 0)
            pieces.append(Piece(Part.STRING, 0, at))
            if self.triple:
                return pieces
        if self.single:
            at = self._string(line, 0, self.single)
            pieces.append(Piece(Part.STRING, 0, at))
        stop = _STOP_LOOSE if self.loose else _STOP
        begin = at
        while found := stop.search(line, at):
            start = found.start()
            end, part = self._token(line, start)
            if part is Part.CODE:
                at = end
                continue
            self._add_code(line, begin, start, pieces)
            pieces.append(Piece(part, start, end))
            begin = at = end
        self._add_code(line, begin, len(line), pieces)
        ends_in_code = bool(pieces) and pieces[-1].part is Part.CODE
        self.continued = ends_in_code and line.endswith("\\")
        return pieces

    def _token(self, line: str, start: int) -> tuple[int, Part]:
        char = line[start]
        if char == "#":
            return len(line), Part.COMMENT
        if self.loose:
            for run, quote in ((_RUN_DOUBLE, '"""'), (_RUN_SINGLE, "'''")):
                if run.match(line, start):
                    self.triple = "smart" + quote if line[start : start + 3] != quote else quote
                    return self._close_triple(line, start + 3), Part.STRING
            if char not in "\"'":
                return start + 1, Part.CODE
        if line.startswith(char * 3, start):
            self.triple = char * 3
            return self._close_triple(line, start + 3), Part.STRING
        return self._string(line, start + 1, char), Part.STRING

    def _string(self, line: str, at: int, quote: str) -> int:
        self.single = ""
        ends = _ENDS[quote]
        while found := ends.search(line, at):
            at = found.end()
            if found.group() == quote:
                return at
        # a backslash that escapes nothing on this line escapes the newline: the string goes on
        self.single = quote if line.endswith("\\") and at < len(line) else ""
        self.open_string = not self.single
        return len(line)

    def _close_triple(self, line: str, at: int) -> int:
        if self.triple.startswith("smart"):
            run = _RUN_DOUBLE if self.triple.endswith('"') else _RUN_SINGLE
            found = run.search(line, at)
            if found:
                self.triple = ""
                return found.end()
            return len(line)
        ends = _ENDS[self.triple]
        while found := ends.search(line, at):
            at = found.end()
            if found.group() == self.triple:
                self.triple = ""
                return at
        return len(line)

    def _add_code(self, line: str, start: int, end: int, pieces: list[Piece]) -> None:
        if start >= end:
            return
        pieces.append(Piece(Part.CODE, start, end))
        for found in _BRACKET.finditer(line, start, end):
            if found.group() in _OPEN:
                self.depth += 1
            elif self.depth:
                self.depth -= 1


def masked(line: str, pieces: list[Piece]) -> str:
    """Give the line with every string as `""` and no comment: what is left is code only."""
    return "".join(
        line[piece.start : piece.end] if piece.part is Part.CODE else '""' if piece.part is Part.STRING else ""
        for piece in pieces
    )


def without_invisible(text: str) -> str:
    """Give the text without marks that nobody sees."""
    if text.isascii():
        return text
    return "".join(char for char in text if char not in INVISIBLE)
