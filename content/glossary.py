"""The course's glossary, `glossary.yaml`: one word for one thing, served to learners and kept throughout the texts.

Law: a course folder may lack the file. A term names a section that explains it; a synonym that a term rejects stands in
no text that a learner reads, pictures and phrases included. Learners' own words (sample questions) are theirs.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path as Folder

from pydantic import Field

from content import schema, strictyaml
from content.drafts import Draft, strings
from content.faults import Fault, Path, spelled
from content.folders import UnreadableError, read_inside, text_of
from content.shapes import validated

GLOSSARY = "glossary.yaml"

MOST_WORDS = 3
"""Words of a name by which a learner may ask for a term, as the reader of questions looks no further."""

NOT_OURS = frozenset(
    {"questions", "answer", "alternatives", "english", "names", "instead_of", "file", "code", "source"}
)
"""Keys whose texts are learners' words, code, or the rejected words themselves."""

_FOLDED = str.maketrans("أإآٱىئؤة", "اااايي" + "وه")
_MARKS = {*range(0x610, 0x61B), *range(0x64B, 0x660), 0x640, 0x670}
_CODE = re.compile(r"`[^`\n]*`")
_LETTER = "[0-9A-Za-z\u0620-\u064a]"
_BEFORE = "(?:[وف]?(?:[بكل]?ال|لل|[بكل])?)"
"""What Arabic writes onto the beginning of a noun."""
_SCRIPT_LIMIT = 64 << 10
_LONGEST = 40
"""Lines of the file over which one text is folded."""


class GlossaryFile(schema.Closed):
    """`glossary.yaml`: the terms, in the order of the course."""

    terms: tuple[schema.Term, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Rejected:
    """A rejected word in a text: where it begins, how it stands there, and the term to write instead."""

    at: int
    found: str
    term: str


def read(root: Folder) -> tuple[tuple[schema.Term, ...], strictyaml.Document | None]:
    """Read the glossary of a course's folder; without the file there are no terms."""
    path = root / GLOSSARY
    if not path.is_symlink() and not path.exists():
        return (), None
    try:
        document = strictyaml.read(read_inside(root, GLOSSARY, strictyaml.SIZE_LIMIT), GLOSSARY)
    except UnreadableError as error:
        document = strictyaml.Document(GLOSSARY)
        document.fault((), error.wrong, error.right)
        return (), document
    found = validated(GlossaryFile, document)
    return (found.terms if found else ()), document


def plain(text: str) -> str:
    """Fold the letters of a text for comparing words, character by character, so that positions stay what they were."""
    return "".join(_one(letter) for letter in text)


def _one(letter: str) -> str:
    if ord(letter) in _MARKS:
        return "\u0640"  # a mark becomes a stretching mark, over which the patterns step
    return letter.translate(_FOLDED).casefold() if len(letter.casefold()) == 1 else letter


def _bared(name: str) -> str:
    """Return a name without its marks, folded: as two names are told apart."""
    return plain(unicodedata.normalize("NFC", name)).replace("\u0640", "")


class Words:
    """The rejected words of a glossary, ready to be looked for."""

    def __init__(self, terms: Iterable[schema.Term]) -> None:
        spelled = [(word, term.term) for term in terms for word in term.instead_of]
        self._patterns = [(_pattern(word), term) for word, term in sorted(spelled, key=lambda pair: -len(pair[0]))]

    def rejected(self, text: str) -> Iterator[Rejected]:
        """Yield each rejected word that stands in a text outside its code spans, the longest that fits."""
        folded = plain(_CODE.sub(lambda span: "\0" * len(span[0]), text))
        taken: list[tuple[int, int]] = []
        for pattern, term in self._patterns:
            for found in pattern.finditer(folded):
                if not any(start < found.end() and found.start() < end for start, end in taken):
                    taken.append(found.span())
                    yield Rejected(found.start(), text[found.start() : found.end()], term)


def _pattern(word: str) -> re.Pattern[str]:
    between = "[\u0640]*"
    words = [between.join(re.escape(letter) for letter in _bared(each)) + between for each in word.split()]
    first, *others = words
    joined = first + "".join(rf"[\s\0]+(?:ا[\u0640]*ل[\u0640]*)?{each}" for each in others)
    return re.compile(rf"(?<!{_LETTER}){_BEFORE}{joined}(?!{_LETTER})")


# --- what is wrong with the file itself -------------------------------------------------------------------------------


def check_terms(document: strictyaml.Document, terms: Sequence[schema.Term], drafts: Iterable[Draft]) -> None:
    """Note terms whose section does not exist, names that two terms share, and words rejected and used at once."""
    listed = list(drafts)
    sections = {draft.slug: [section.id for _, section in draft.each(schema.Section)] for draft in listed}
    faulty = {draft.slug for draft in listed if not draft.lesson}  # what is missing there is said there
    taken: dict[str, str] = {}
    for index, term in enumerate(terms):
        path: Path = ("terms", index)
        if term.lesson not in sections:
            document.fault((*path, "lesson"), f"there is no lesson {term.lesson}", _one_of(sections))
        elif term.section not in sections[term.lesson] and term.lesson not in faulty:
            wrong = f"the lesson {term.lesson} has no section {term.section}"
            document.fault((*path, "section"), wrong, _one_of(sections[term.lesson]))
        for key, name in (("term", term.term), ("english", term.english), *(("names", each) for each in term.names)):
            if len(name.split()) > MOST_WORDS:
                document.fault((*path, key), f"{name} has more than {MOST_WORDS} words", "shorten the name")
            other = taken.setdefault(_bared(name), term.term)
            if other != term.term:
                document.fault((*path, key), f"{name} names {other} already", "keep one of the two")
    words = Words(terms)
    for index, term in enumerate(terms):
        for found in words.rejected(term.term):
            wrong = f"{found.found} is a term here, and rejected for {found.term}"
            document.fault(("terms", index, "term"), wrong, "reject it there, or use it here, not both")


def _one_of(names: Iterable[str]) -> str:
    return f"write one of {', '.join(sorted(names))}"


# --- one term is one word throughout ----------------------------------------------------------------------------------


def check_words(
    root: Folder, terms: Sequence[schema.Term], documents: Iterable[strictyaml.Document], drafts: Iterable[Draft]
) -> None:
    """Note every rejected word of the texts, with its file and line, also in the scripts that draw the figures."""
    words = Words(terms)
    for document in documents:
        lines = _lines(root, document.file)
        for path, text in strings(document.data):
            if path not in document.spoilt and not NOT_OURS & {step for step in path if isinstance(step, str)}:
                for found in words.rejected(text):
                    _note(document, path, found, lines)
    for draft in drafts:
        for name in draft.present:
            if name.startswith("drawings/") and name.endswith(".py"):
                for found, line in _drawn(words, root / "lessons" / draft.slug, name):
                    draft.fault_in(name, line, *_sentences(found))


def _drawn(words: Words, folder: Folder, name: str) -> Iterator[tuple[Rejected, int]]:
    try:
        text = text_of(read_inside(folder, name, _SCRIPT_LIMIT), name)
    except UnreadableError:
        return  # said by whoever draws it
    for found in words.rejected(text):
        yield found, text.count("\n", 0, found.at) + 1


def _note(document: strictyaml.Document, path: Path, found: Rejected, lines: Sequence[str]) -> None:
    """Note a word at its own line: a text may be folded over several lines of its file."""
    first = document.line(path)
    below = range(first, min(first + _LONGEST, len(lines) + 1))
    wanted = (found.found, found.found.split()[0])  # a line may end between two words
    line = next((number for part in wanted for number in below if part in lines[number - 1]), first)
    document.faults.append(Fault(document.file, line, spelled(path), *_sentences(found)))


def _sentences(found: Rejected) -> tuple[str, str]:
    return f"«{found.found}» is another word for a term of the glossary", f"write «{found.term}», one term is one word"


def _lines(root: Folder, file: str) -> list[str]:
    try:
        return text_of(read_inside(root, file, strictyaml.SIZE_LIMIT), file).split("\n")
    except UnreadableError:
        return []  # said by whoever reads it as YAML
