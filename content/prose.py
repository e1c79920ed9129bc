"""What Arabic prose must keep so that it reads right in every chat; pure, text in, mistakes out.

Law: a mistake is (line inside the text from 0, what is wrong, what would be right). The reasons are measured ones:
chats link `np.dot`, mention `@njit`, and turn `(3, 4)` around when they stand outside code.
"""

import re
import unicodedata
from collections.abc import Iterator

Mistake = tuple[int, str, str]

_ARABIC = re.compile("[\u0620-\u064a\u066e-\u06d3]")
_CODE = re.compile(r"`[^`\n]*`")
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffc\x00-\x08\x0b-\x1f\x7f]"
)
_FOREIGN_DIGIT = re.compile("[\u0660-\u0669\u06f0-\u06f9]")
_LOOKALIKE = {
    "\u06cc": ("a Persian yeh (ی)", "the Arabic yeh ي or alef maqsura ى"),
    "\u06a9": ("a Persian kaf (ک)", "the Arabic kaf ك"),
    "\u06d2": ("an Urdu yeh (ے)", "the Arabic yeh ي"),
    "\u00a0": ("a no-break space", "a plain space"),
    "\u0640": ("a stretching mark (ـ)", "the word without it"),
    "\t": ("a tab", "a space"),
}
_PRESENTATION = re.compile("[\ufb50-\ufdff\ufe70-\ufefc]")
_MARKS = {",": "،", ";": "؛", "?": "؟"}
_IDENTIFIERS = (
    (re.compile(r"https?://\S+|www\.\S+"), "an address"),
    (re.compile(r"@[A-Za-z_][\w.]*", re.ASCII), "a decorator"),
    (re.compile(r"[A-Za-z_][\w]*(?:\.[A-Za-z_]\w*)+", re.ASCII), "an identifier"),
    (re.compile(r"[A-Za-z_]\w*(?:\(|\[)", re.ASCII), "a call"),
    (re.compile(r"[A-Za-z0-9]*_[A-Za-z0-9_]*", re.ASCII), "an identifier"),
    (re.compile(r"\b(?:b?float|u?int|complex|bf|fp|tf)[0-9]+\b", re.ASCII), "a type's name"),
    (re.compile(r"\([0-9]+(?:, ?[0-9]*)+\)", re.ASCII), "a shape"),
    (re.compile(r"[A-Za-z0-9)\]] ?(?:\*\*?|==|!=|<=|>=|\+=|->) ?[A-Za-z0-9(\[]", re.ASCII), "an expression"),
)
_LIST_LINE = re.compile(r"(?:[-+•] |\* |#+ |[0-9]+[.)] |> |```|~~~|\|)", re.ASCII)


def mistakes(text: str, limit: int) -> Iterator[Mistake]:
    """Yield what is wrong with one text: marks, letters, digits, punctuation, code outside code, length."""
    shown = visible_length(text)
    if shown > limit:
        yield 0, f"the text has {shown} characters", f"shorten or divide it: at most {limit} fit"
    if shown > 4 * limit:
        return  # a pasted book is not read for its commas
    yield from _characters(text)
    yield from _balance(text)
    if text.count("`") % 2 == 0:  # else nobody knows what is code
        yield from _identifiers(text)
        yield from _punctuation(text)
    yield from _layout(text)


def visible_length(text: str) -> int:
    """Count the characters that a reader sees: without backticks and ** marks."""
    return len(text.replace("`", "").replace("**", "").strip())


def without_code(text: str) -> str:
    """Blank out code spans, keeping every position."""
    return _CODE.sub(lambda span: " " * len(span[0]), text)


def is_arabic(text: str) -> bool:
    """Say whether a text has an Arabic letter outside its code."""
    return bool(_ARABIC.search(without_code(text)))


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position)


def _characters(text: str) -> Iterator[Mistake]:
    for found in _INVISIBLE.finditer(text):
        wrong = f"the invisible character U+{ord(found[0]):04X} is typed"
        yield _line(text, found.start()), wrong, "delete it; each platform's renderer places direction marks itself"
    for found in _FOREIGN_DIGIT.finditer(text):
        yield (
            _line(text, found.start()),
            f"the digit {found[0]}",
            f"write {unicodedata.digit(found[0])}: digits are 0-9",
        )
    for found in _PRESENTATION.finditer(text):
        plain = unicodedata.normalize("NFKC", found[0])
        yield _line(text, found.start()), f"the ready-made form U+{ord(found[0]):04X}", f"type plain letters: {plain}"
    for sign, (wrong, right) in _LOOKALIKE.items():
        if sign in text:
            yield _line(text, text.index(sign)), wrong, f"type {right}"
    if not unicodedata.is_normalized("NFC", text):
        yield 0, "a letter and its mark are typed as two characters", "type the composed letter (NFC)"


def _balance(text: str) -> Iterator[Mistake]:
    for number, line in enumerate(text.split("\n")):
        if line.count("`") % 2:
            right = "close the `code` on its own line (an unquoted ` #` in YAML cuts a text: use | or quotes)"
            yield number, "a backtick without its partner", right
        elif "``" in line:
            yield number, "a code span without anything in it", "write code between single backticks"
        bare = without_code(line)
        if bare.count("**") % 2:
            yield number, "** without its partner", "close the **strong** words on the same line"
        elif "****" in bare:
            yield number, "strong marks without words", "write words between the **"
        elif re.search(r"\*\*[^*]*`[^*]*\*\*", line) and not re.search(r"`[^`]*\*\*[^`]*`", line):
            yield number, "code inside **strong** words", "end the strong words before the code"
        if re.search(r"(?<!\*)\*(?!\*)", bare):
            yield number, "a single *", "write **strong**, or put the expression between backticks"


def _identifiers(text: str) -> Iterator[Mistake]:
    bare = without_code(text)
    taken: list[tuple[int, int]] = []
    for pattern, what in _IDENTIFIERS:
        for found in pattern.finditer(bare):
            if any(start < found.end() and found.start() < end for start, end in taken):
                continue
            taken.append(found.span())
            shown = found[0].strip()
            wrong = f"{what} outside a code span: {shown}"
            yield _line(bare, found.start()), wrong, "put it between backticks, or chats link it or turn it around"


def _punctuation(text: str) -> Iterator[Mistake]:
    if not is_arabic(text):
        return
    bare = without_code(text)
    for found in re.finditer(r"[,;?]", bare):
        inside_number = re.fullmatch(r"[0-9],[0-9]", bare[max(found.start() - 1, 0) : found.end() + 1])
        inside_shape = re.search(r"\([0-9, ]*$", bare[: found.start()])
        if not inside_number and not inside_shape:
            mark = _MARKS[found[0]]
            yield _line(bare, found.start()), f"the Latin mark {found[0]} in an Arabic sentence", f"write {mark}"


def _layout(text: str) -> Iterator[Mistake]:
    for number, line in enumerate(text.strip("\n").split("\n")):
        if _LIST_LINE.match(line):
            right = "write plain sentences: prose has only `code` and **strong**"
            yield number, f"a line begins like a list, a heading or a quotation: {line[:12]}", right
        if line != line.rstrip():
            yield number, "spaces at the end of a line", "delete them"
