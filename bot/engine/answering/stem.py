"""Light stems of Arabic words: what is written onto a word is taken off, the word itself is not analysed.

Law: a stem keeps at least three letters, and Latin words and numbers are their own stem. What may stand before a
word comes off by likelihood: `bare` names every reading, and the caller knows which of them is a word.
"""

from functools import lru_cache

_JOINED = ("وبال", "وال", "بال", "كال", "فال", "عال", "ولل", "لل", "ال", "بهال", "عهال", "لهال", "فهال", "وهال", "هال")
_LETTERS = "وفبلكس"
_VERBAL = ("بي", "بت", "بن", "كي", "كت", "كن", "هي", "هن", "سي", "ست", "سن")
"""What dialects put before a verb of the present."""
_PERSON = "يتن"
_DENIAL = "مش"
"""What stands around a verb that is denied (`ما…ش`), in Egypt and the Maghreb."""
_THEY = "و"
"""The plural of the Maghreb, behind a verb of the present (`نحسبو`)."""
_ENDINGS = (
    "يات",
    "تها",
    "تهم",
    "هما",
    "كما",
    "ات",
    "ان",
    "ون",
    "ين",
    "ها",
    "هم",
    "نا",
    "كم",
    "ني",
    "وا",
    "ته",
    "يه",
    "ه",
    "ي",
)
_OWNED = ("ها", "هم")
"""Whose it is, written behind a word."""
_SHORTEST = 3
_LONG = 5
"""Letters from which a single letter comes off."""


@lru_cache(maxsize=8192)
def bare(word: str) -> tuple[str, ...]:
    """Give a word and what it may be without what is written onto it, the likeliest first."""
    found = [word]
    if not word.isascii():
        found += [word[len(joint) :] for joint in _JOINED if word.startswith(joint) and len(word) - len(joint) > 1][:1]
        if len(word) > _SHORTEST and word[0] in _LETTERS:
            rest = word[1:]
            found.append(rest)
            found += [rest[2:]] if rest.startswith("ال") and len(rest) > _LONG else []
        if word[0] == _DENIAL[0] and word[-1] == _DENIAL[1] and len(word) > _LONG:
            found.append(word[2:-1] if word[1] == "ا" else word[1:-1])
        owned = [each[: -len(end)] for each in found for end in _OWNED if each.endswith(end) and len(each) > _LONG - 1]
        found += [each for each in owned if len(each) >= _SHORTEST]
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Give the light stem of a folded word."""
    if word.isascii():
        return word[:-1] if len(word) > _LONG and word.endswith("s") and word[-2:] != "ss" else word
    for joint in _JOINED:
        if word.startswith(joint) and len(word) - len(joint) >= _SHORTEST:
            word = word[len(joint) :]
            break
    else:
        word = _unverbal(word)
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return word[: -len(ending)]
    return word


def _unverbal(word: str) -> str:
    if word[0] == _LETTERS[0] and len(word) >= _LONG:
        word = word[1:]
    verb = word[2:] if word[:2] in _VERBAL and len(word) >= _LONG else word
    if verb is word and word[0] in _PERSON and len(word) > _SHORTEST:
        verb = word[1:]
    if verb is not word and verb.endswith(_THEY) and len(verb) > _SHORTEST:
        return verb[:-1]
    return verb
