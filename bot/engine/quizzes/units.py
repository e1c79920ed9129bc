"""Units behind a figure as learners write them: singular, dual and plural, other spellings, symbols.

Law: two words are the same unit or they are not; a unit is never converted into another.
"""

from bot.engine.letters import fold

_SAME = (
    ("مرة", "مرات", "مرار", "أضعاف", "ضعف", "x", "times"),
    ("خطوة", "خطوات", "steps", "step"),
    ("مرور", "مرورات", "passes", "pass"),
    ("استدعاء", "استدعاءات", "calls", "call"),
    ("ثانية", "ثواني", "ثوان", "ث", "s", "sec", "second", "seconds"),
    ("دقيقة", "دقائق", "min", "minute", "minutes"),
    ("ميلي ثانية", "ميليثانية", "ملي ثانية", "مليثانية", "ميلي", "ملي", "ms", "millisecond", "milliseconds"),
    ("ميكروثانية", "ميكرو ثانية", "مايكروثانية", "مايكرو ثانية", "ميكرو", "us", "µs", "microseconds", "microsecond"),
    ("نانوثانية", "نانو ثانية", "نانو", "ns", "nanosecond", "nanoseconds"),
    ("بايت", "بايتات", "b", "byte", "bytes"),
    ("بت", "بتات", "bit", "bits"),
    ("كيلوبايت", "كيلو بايت", "kb", "kib", "kilobytes"),
    ("ميغابايت", "ميجابايت", "ميقابايت", "ميغا بايت", "ميجا بايت", "ميغا", "ميجا", "mb", "mib", "megabytes"),
    ("غيغابايت", "جيجابايت", "قيقابايت", "غيغا بايت", "جيجا بايت", "غيغا", "جيجا", "gb", "gib", "gigabytes"),
    ("عنصر", "عناصر", "elements", "element"),
    ("في المئة", "بالمئة", "في المائة", "بالمائة", "percent"),
)
_ENDINGS = ("تين", "تان", "ين", "ان", "ات", "ون", "ه")
"""Endings of the dual and the sound plurals, folded; the longest first."""
_SIGNS = {"×": "x", "%": "percent", "٪": "percent"}
_LEAST = 2


def _bare(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST:
            return word.removesuffix(ending)
    return word


def _key(text: str) -> str:
    folded = " ".join(word.removeprefix("ال") for word in fold(_SIGNS.get(text.strip(), text)).split())
    return " ".join(_bare(word) for word in folded.split())


_FAMILY = {_key(word): at for at, words in enumerate(_SAME) for word in words}


def same(one: str, other: str) -> bool:
    """Tell whether two words name the same unit, in any number and spelling."""
    first, second = _key(one), _key(other)
    family = _FAMILY.get(first)
    return bool(first) and (first == second or (family is not None and family == _FAMILY.get(second)))
