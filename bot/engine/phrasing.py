"""An answer in other words, by a model that may be wrong: what it may see, and what of its text may be said.

Law: a sentence is said only when it names a passage that was sent, and every number, number word and identifier in it
stands in that passage; one sentence that does not, and none of the answer is said. A learner's text never counts.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bot.engine.answering.normalise import words
from bot.engine.answering.stem import bare, stem
from bot.engine.letters import ARABIC, fold, plain_digits

MOST_SENTENCES, MOST_LETTERS = 5, 400
"""Sentences of an answer, and characters of each."""
MOST_BYTES = 16_384
"""Bytes of a model's text that are read."""
_KNOWN = 0.6
"""Share of a sentence's longer Arabic words that must stand in its passage: what comes from elsewhere has fewer."""
_LONG = 4
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?(?: ?[%×])?")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.]*", re.ASCII)
_FOREIGN = re.compile(r"https?:|www\.|[@<>\[\]{}|\\]|\w+\.(?:com|org|net|io|me)\b", re.IGNORECASE)
_NUMBER_WORDS = frozenset(
    fold(word)
    for word in (
        "اثنان اثنين اثنتان اثنتين ثلاث ثلاثة أربع أربعة خمس خمسة ست ستة سبع سبعة ثمان ثماني ثمانية تسع تسعة عشر عشرة "
        "عشرات عشرين عشرون ثلاثين ثلاثون أربعين أربعون خمسين خمسون ستين ستون سبعين سبعون ثمانين ثمانون تسعين تسعون "
        "مئة مائة مئات مئتين مئتان ألف ألفين ألفان آلاف مليون ملايين مليار مليارات نصف ثلث ثلثين ربع خمس عشر "
        "ضعف ضعفين ضعفا أضعاف مرتين مرتان لا ليس ليست لم لن غير أبدا دائما بلا دون"
    ).split()
)
"""Words that count, double or deny: each changes what a sentence claims."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph that the gate has admitted, with its number from 1."""

    id: int
    text: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that was checked, and the number of its passage."""

    text: str
    source: int


def passages(texts: Iterable[str]) -> tuple[Passage, ...]:
    """Number the paragraphs of a section."""
    paragraphs = (" ".join(part.split()) for text in texts for part in re.split(r"\n\s*\n", text))
    return tuple(Passage(number, part) for number, part in enumerate(filter(None, paragraphs), 1))


def checked(text: str, admitted: tuple[Passage, ...]) -> tuple[Sentence, ...]:
    """Read a model's text: JSON with `sentences`, each with `text` and `source`; empty when any of it fails."""
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        return ()
    try:
        given = json.loads(_unfenced(text))
        listed = given["sentences"]
        read = [(each["text"], each["source"]) for each in listed]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ()
    by_id = {passage.id: passage for passage in admitted}
    sentences: list[Sentence] = []
    for said, source in read:
        if not isinstance(said, str) or isinstance(source, bool) or not isinstance(source, int) or source not in by_id:
            return ()
        sentence = " ".join(said.split())
        if not _stands(sentence, by_id[source].text):
            return ()
        sentences.append(Sentence(sentence, source))
    return tuple(sentences) if 1 <= len(sentences) <= MOST_SENTENCES else ()


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Part a sentence into prose and what must stay left to right: identifiers and numbers."""
    end = 0
    for found in re.finditer(rf"{_IDENTIFIER.pattern}|{_NUMBER.pattern}", text):
        if found.start() > end:
            yield text[end : found.start()], False
        yield found[0], True
        end = found.end()
    if end < len(text):
        yield text[end:], False


def _unfenced(text: str) -> str:
    """Take off the fence that models like to put around JSON."""
    found = re.fullmatch(r"\s*```(?:json)?\s*\n(.*?)\n?```\s*", text, re.DOTALL)
    return found[1] if found else text


def _stands(sentence: str, passage: str) -> bool:
    if not 1 <= len(sentence) <= MOST_LETTERS or ARABIC.search(sentence) is None:
        return False
    if _FOREIGN.search(sentence) or any(unicodedata.category(each)[0] == "C" for each in sentence):
        return False
    return (
        _numbers(sentence) <= _numbers(passage)
        and _identifiers(sentence) <= _identifiers(passage)
        and _claims(sentence) <= _claims(passage)
        and _is_of(sentence, passage)
    )


def _numbers(text: str) -> set[str]:
    plain = plain_digits(unicodedata.normalize("NFKC", text)).replace("٪", "%")
    return {found.replace(",", "").replace(" ", "").casefold() for found in _NUMBER.findall(plain)}


def _identifiers(text: str) -> set[str]:
    whole = {found.strip(".").casefold() for found in _IDENTIFIER.findall(text)}
    return whole | {part for name in whole for part in name.split(".") if part}


def _claims(text: str) -> set[str]:
    """Give the number words and denials of a text, without what is written onto them."""
    found: set[str] = set()
    for word in fold(text).split():
        found |= _NUMBER_WORDS.intersection(bare(word))
    return found


def _is_of(sentence: str, passage: str) -> bool:
    long = [word for word in words(sentence) if len(word) >= _LONG and not word.isascii()]
    known = {stem(reading) for word in fold(passage).split() for reading in bare(word)}
    held = sum(any(stem(reading) in known for reading in bare(word)) for word in long)
    return held >= _KNOWN * len(long)
