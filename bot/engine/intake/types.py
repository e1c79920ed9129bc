"""What code intake may answer: closed types and codes, worded by nobody here.

Law: a line number counts from 1 in the source of the first candidate; nothing here is a sentence.
"""

from dataclasses import dataclass
from enum import StrEnum

MAX_CHARACTERS = 100_000
"""Code points a text may have; a longer one is refused."""
MAX_FILE_BYTES = 1 << 20
"""Bytes at which a file is refused."""

Values = tuple[tuple[str, str], ...]
"""Named parameters of a phrase, as pairs."""


class Reason(StrEnum):
    """Why nothing is proposed."""

    EMPTY_FILE = "empty_file"
    NO_CODE = "no_code"
    BINARY = "binary"
    ARCHIVE = "archive"
    TOO_LARGE = "too_large"
    TOO_LONG = "too_long"
    UNKNOWN_KIND = "unknown_kind"
    UTF16 = "utf16"
    NOT_UTF8 = "not_utf8"
    BAD_NOTEBOOK = "bad_notebook"
    NOTEBOOK_SHAPE = "notebook_shape"
    NOTEBOOK_TOO_LARGE = "notebook_too_large"
    EMPTY_NOTEBOOK = "empty_notebook"
    NOTEBOOK_LANGUAGE = "notebook_language"
    OTHER_LANGUAGE = "other_language"
    ONLY_MAGICS = "only_magics"


class NoticeKind(StrEnum):
    """What was seen, or done without changing the meaning of the code."""

    PROMPTS_REMOVED = "prompts_removed"
    OUTPUT_DROPPED = "output_dropped"
    PROSE_SET_ASIDE = "prose_set_aside"
    PROSE_AMID = "prose_amid"
    TRACEBACK_SET_ASIDE = "traceback_set_aside"
    BLOCKS_JOINED = "blocks_joined"
    OTHER_BLOCKS_SET_ASIDE = "other_blocks_set_aside"
    NOTEBOOK_JOINED = "notebook_joined"
    MARKS_REMOVED = "marks_removed"
    MARKS_IN_STRING = "marks_in_string"
    SHELL_LINE = "shell_line"
    MAGIC_LINE = "magic_line"
    HOMOGLYPH = "homoglyph"
    FORMATTING_EATEN = "formatting_eaten"
    DECODED_AS = "decoded_as"


class RepairKind(StrEnum):
    """Which damage a repair undoes."""

    QUOTES = "quotes"
    DASH = "dash"
    SHIFT = "shift"
    SPACE = "space"
    INVISIBLE = "invisible"
    ARABIC_PUNCTUATION = "arabic_punctuation"
    DIGITS = "digits"
    FULL_WIDTH = "full_width"
    OPERATOR = "operator"
    ELLIPSIS = "ellipsis"
    AUTOCORRECT = "autocorrect"
    MARKUP = "markup"
    HOMOGLYPH = "homoglyph"
    INDENT = "indent"
    TABS = "tabs"
    LINE_NUMBERS = "line_numbers"


class SyntaxCode(StrEnum):
    """Why code does not parse; the closed set of `SyntaxTrouble.code`."""

    NEVER_CLOSED = "never_closed"
    UNMATCHED = "unmatched"
    MISMATCHED = "mismatched"
    EXPECTED_COLON = "expected_colon"
    EXPECTED_EXCEPT = "expected_except"
    UNTERMINATED_STRING = "unterminated_string"
    UNTERMINATED_TRIPLE = "unterminated_triple"
    INDENT_UNEXPECTED = "indent_unexpected"
    INDENT_MISSING = "indent_missing"
    INDENT_MISMATCH = "indent_mismatch"
    TABS = "tabs"
    INVALID_CHARACTER = "invalid_character"
    INVISIBLE_CHARACTER = "invisible_character"
    NULL_BYTES = "null_bytes"
    BAD_NUMBER = "bad_number"
    BAD_ESCAPE = "bad_escape"
    BAD_FSTRING = "bad_fstring"
    BYTES_NOT_ASCII = "bytes_not_ascii"
    BAD_ASSIGNMENT = "bad_assignment"
    EQUALS_IN_CONDITION = "equals_in_condition"
    MISSING_COMMA = "missing_comma"
    MISSING_PARENTHESES = "missing_parentheses"
    ARGUMENT_ORDER = "argument_order"
    AFTER_BACKSLASH = "after_backslash"
    UNFINISHED = "unfinished"
    INVALID_SYNTAX = "invalid_syntax"
    TOO_COMPLEX = "too_complex"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the learner should know; `line` is None when it concerns the whole."""

    kind: NoticeKind
    line: int | None = None
    values: Values = ()


@dataclass(frozen=True, slots=True)
class Repair:
    """One line that a repair changes, whole before and after; `others` are further damages of the same line."""

    line: int
    before: str
    after: str
    kind: RepairKind
    others: tuple[RepairKind, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A reading of what was sent; the first has no repairs."""

    source: str
    repairs: tuple[Repair, ...] = ()


@dataclass(frozen=True, slots=True)
class NotCode:
    """Plain prose."""


@dataclass(frozen=True, slots=True)
class Code:
    """Code was sent: one or two candidates, to be parsed in order by the limited child.

    `cells` holds, for a notebook, the line at which each of its code cells begins; else it is empty.
    """

    candidates: tuple[Candidate, ...]
    filename: str = "code.py"
    notices: tuple[Notice, ...] = ()
    cells: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Traceback:
    """A traceback and no code; `last_line` names the error, empty when it was cut off."""

    last_line: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing can be proposed, and why; `values` fill the phrase."""

    reason: Reason
    values: Values = ()


Intake = NotCode | Code | Traceback | Refused
