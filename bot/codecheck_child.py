"""The limited child: reads candidates, parses them, says which one is Python; started by path, imports nothing of ours.

Law: nothing is compiled to code and nothing is run. The limits stand before the first byte of a learner is read.
"""

import json
import resource
import sys
import unicodedata
from _ast import PyCF_ONLY_AST

MEMORY_BYTES = 512 << 20
CPU_S = 2
_TEXT = 4000
_OPTIONS = "nrtcpqov"

# parts of CPython's messages (3.11 to 3.13) in the order in which they are looked for, and our codes for them
CODES = (
    ("was never closed", "never_closed"),
    ("does not match opening parenthesis", "mismatched"),
    ("unmatched ", "unmatched"),
    ("too many nested", "too_complex"),
    ("too many levels of indentation", "too_complex"),
    ("unterminated triple-quoted", "unterminated_triple"),
    ("unterminated ", "unterminated_string"),
    ("inconsistent use of tabs", "tabs"),
    ("unindent does not match", "indent_mismatch"),
    ("unexpected indent", "indent_unexpected"),
    ("expected an indented block", "indent_missing"),
    ("expected 'except' or 'finally'", "expected_except"),
    ("f-string", "bad_fstring"),
    ("expected ':'", "expected_colon"),
    ("invalid character", "invalid_character"),
    ("invalid non-printable character", "invisible_character"),
    ("null bytes", "null_bytes"),
    ("bytes can only contain ASCII", "bytes_not_ascii"),
    ("cannot mix bytes", "bytes_not_ascii"),
    ("(unicode error)", "bad_escape"),
    ("(value error)", "bad_escape"),
    ("leading zeros", "bad_number"),
    ("invalid digit", "bad_number"),
    ("decimal literal", "bad_number"),
    ("hexadecimal literal", "bad_number"),
    ("octal literal", "bad_number"),
    ("binary literal", "bad_number"),
    ("imaginary literal", "bad_number"),
    ("Exceeds the limit", "bad_number"),
    ("Maybe you meant '==' or ':='", "equals_in_condition"),
    ("cannot assign to", "bad_assignment"),
    ("cannot delete", "bad_assignment"),
    ("illegal expression for augmented", "bad_assignment"),
    ("illegal target", "bad_assignment"),
    ("assignment to yield", "bad_assignment"),
    ("cannot use assignment expressions", "bad_assignment"),
    ("forgot a comma", "missing_comma"),
    ("Missing parentheses", "missing_parentheses"),
    ("must be parenthesized", "missing_parentheses"),
    ("argument follows", "argument_order"),
    ("unpacking follows", "argument_order"),
    ("parameter without a default", "argument_order"),
    ("after line continuation", "after_backslash"),
    ("unexpected EOF", "unfinished"),
)
# the parser asks for this module at the first name in Arabic letters, when no file can be opened any more
NAMES = unicodedata.unidata_version


def limit() -> None:
    """Set what this process may use; it cannot raise them again."""
    for what, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_S),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 1),  # 0 would not keep the kernel from starting the host's crash program: core(5)
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_NOFILE, 3),
    ):
        _, hard = resource.getrlimit(what)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (least, least))


def parse(source: str) -> dict[str, object] | None:
    """Give None when the source parses, else its trouble."""
    trouble = attempt(source, source, {})
    if trouble is None or "%timeit" not in source:
        return trouble
    masked, shifts = mask(source)
    return trouble if masked == source else attempt(masked, source, shifts)


def attempt(source: str, original: str, shifts: dict[int, int]) -> dict[str, object] | None:
    """Parse; `shifts` says by how many characters a masked line is shorter than the original one."""
    try:
        compile(source, "code", "exec", PyCF_ONLY_AST, dont_inherit=True)
    except SyntaxError as error:
        if "\x00" in source:
            return placed("null_bytes", source, source.index("\x00"))
        line = error.lineno or 1
        return told(error.msg or "", line, (error.offset or 1) + shifts.get(line, 0), original)
    except UnicodeEncodeError as error:
        return placed("invalid_character", source, error.start)
    except ValueError:
        return placed("null_bytes", source, source.find("\x00"))
    except (RecursionError, MemoryError, OverflowError, SystemError):
        return placed("too_complex", source, 0)
    return None


def told(message: str, line: int, column: int, source: str) -> dict[str, object]:
    """Turn the parser's message into a code, and put the column where the fault is."""
    code = next((code for part, code in CODES if part in message), "invalid_syntax")
    lines = source.split("\n")
    line = min(max(line, 1), len(lines))
    text = lines[line - 1]
    if code.startswith("indent_") or code == "tabs":
        column = len(text) - len(text.lstrip()) + 1
    column = min(max(column, 1), len(text) + 1)
    if code == "invalid_syntax" and column > len(text.rstrip()) and not any(rest.strip() for rest in lines[line:]):
        code = "unfinished"
    return {"code": code, "line": line, "column": column, "text": shown(text)}


def placed(code: str, source: str, at: int) -> dict[str, object]:
    """Give a trouble at a place in the source."""
    begin = source.rfind("\n", 0, max(at, 0)) + 1
    end = source.find("\n", begin)
    text = source[begin : end if end >= 0 else len(source)]
    return {
        "code": code,
        "line": source.count("\n", 0, begin) + 1,
        "column": max(at, 0) - begin + 1,
        "text": shown(text),
    }


def shown(text: str) -> str:
    """Give a line as it can be stored and shown: its beginning, without zero bytes and half characters."""
    return "".join("\ufffd" if char == "\x00" or "\ud800" <= char <= "\udfff" else char for char in text[:_TEXT])


def mask(source: str) -> tuple[str, dict[int, int]]:
    """Put the timed statement in the place of `%timeit` and `%%timeit`; every line stays a line."""
    lines = source.split("\n")
    shifts: dict[int, int] = {}
    for at, line in enumerate(lines):
        bare = line.lstrip()
        word = bare.split(None, 1)[0] if bare.strip() else ""
        if word not in {"%timeit", "%%timeit"}:
            continue
        statement = timed(bare[len(word) :])
        lines[at] = line[: len(line) - len(bare)] + (statement or "pass")
        shifts[at + 1] = len(line) - len(lines[at])
    return "\n".join(lines), shifts


def timed(rest: str) -> str:
    """Give the statement behind the options of `%timeit`."""
    rest = rest.lstrip()
    while rest[:1] == "-" and rest[1:2] and rest[1] in _OPTIONS:
        option, rest = rest[1], rest[2:]
        if option in "nrp":
            rest = rest.lstrip().lstrip("0123456789")
        if rest[:1] not in {"", " ", "\t"}:
            return rest
        rest = rest.lstrip()
    return rest


def main() -> None:
    """Read `{"candidates": [...]}` and write `{"index": ..., "trouble": ...}`."""
    limit()
    first: dict[str, object] | None = None
    index: int | None = None
    for at, source in enumerate(json.load(sys.stdin)["candidates"]):
        trouble = parse(source)
        if trouble is None:
            index = at
            break
        first = first or trouble
    json.dump({"index": index, "trouble": first}, sys.stdout)


if __name__ == "__main__":
    main()
