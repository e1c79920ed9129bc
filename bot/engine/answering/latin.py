"""Arabic typed in Latin letters and figures (`leh el loop bate2a`) -> Arabic words: by a short list, and by sound.

Law: only a text without one Arabic letter is read so, and a word of the lessons is left as it is. Vowels and doubled
letters are not compared. By sound only the lessons' own Arabic words are found, and only where the text shows by its
figures or its small words that it is Arabic.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from bot.engine.letters import fold

_VOWELS = re.compile(r"[aeiouy]+|(?<=.)h$")
_DOUBLED = re.compile(r"(.)\1+")
_SHORTEST = 3
_INSIDE = re.compile(r"[a-z]*[2356789][a-z]|[a-z][2356789]")
"""A figure that stands for a letter."""
_TWO = (("sh", "$"), ("ch", "$"), ("kh", "5"), ("gh", "8"), ("th", "t"), ("dh", "d"), ("ph", "f"), ("ou", "u"))
_SOUNDS = str.maketrans("79qgcpv6x", "hkkjkbft5")
_SILENT = re.compile(r"[aeiouyw2]+")
_ARTICLE = re.compile(r"(?:w|b|f|l|k)?(?:el|al|il|l)-?(?=[a-z3-9]{3})")
_LETTERS = str.maketrans(
    {
        **dict(zip("بتثجحخدذرزسشصضطظعغفقكلمنه", "bttjh5ddrzs$sdtz38fkklmnh", strict=True)),
        **dict.fromkeys("اويء", ""),
    }
)


class Latin:
    """The list and the sounds, ready to be looked up."""

    def __init__(self, listed: Mapping[str, Sequence[str]]) -> None:
        self._exact: dict[str, str] = {}
        self._bones: dict[str, str] = {}
        self._heard: dict[str, str] = {}
        for arabic, spellings in listed.items():
            for spelled in spellings:
                self._exact.setdefault(spelled, fold(arabic))
                bones = skeleton(spelled)
                if len(bones) >= _SHORTEST:
                    self._bones.setdefault(bones, fold(arabic))

    def learn(self, words: Iterable[tuple[str, str]]) -> None:
        """Take the lessons' Arabic words, each with what it means; a sound of two meanings means neither."""
        meanings: dict[str, dict[str, str]] = defaultdict(dict)
        for word, meaning in words:
            for sound in _sounds(word):
                if len(sound) >= _SHORTEST:
                    meanings[sound].setdefault(meaning, word)
        self._heard = {sound: next(iter(each.values())) for sound, each in meanings.items() if len(each) == 1}

    def decoded(self, words: Sequence[str], known: Collection[str]) -> list[str]:
        """Give the words in Arabic letters where the lists have them and the lessons have not."""
        small = sum(word in self._exact and len(word) > 1 for word in words)
        arabic = small > 1 or any(_INSIDE.search(word) for word in words)
        return [self._of(word, known, by_sound=arabic) for word in words]

    def _of(self, word: str, known: Collection[str], *, by_sound: bool) -> str:
        found = self._exact.get(word)
        if found is not None or word in known:
            return found or word
        bones = skeleton(word)
        if len(bones) >= _SHORTEST and any(map(str.isdigit, word)) and bones in self._bones:
            return self._bones[bones]
        if not by_sound or word.isdigit():
            return word
        without = _ARTICLE.sub("", word, count=1) if _ARTICLE.match(word) else word
        sounds = (sound_of(each) for each in (word, without))
        sure = (sound for sound in sounds if len(sound) > _SHORTEST or any(map(str.isdigit, sound)))
        return next((self._heard[sound] for sound in sure if sound in self._heard), word)


def skeleton(word: str) -> str:
    """Give the consonants of a word, none twice in a row."""
    return _DOUBLED.sub(r"\1", _VOWELS.sub("", word))


def sound_of(word: str) -> str:
    """Give the sound of an Arabic word in Latin letters: its consonants, those that are typed alike as one."""
    for two, one in _TWO:
        word = word.replace(two, one)
    word = _SILENT.sub("", word.translate(_SOUNDS))
    return _DOUBLED.sub(r"\1", word[:-1] if len(word) > _SHORTEST and word.endswith("h") else word)


def _sounds(word: str) -> Iterable[str]:
    """Give the sounds of a word in Arabic letters; where ق is not spoken it is left out."""
    if word.isascii() or " " in word:
        return
    spoken = word.removesuffix("ه")
    yield _DOUBLED.sub(r"\1", spoken.translate(_LETTERS))
    if "ق" in spoken:
        yield _DOUBLED.sub(r"\1", spoken.replace("ق", "").translate(_LETTERS))
