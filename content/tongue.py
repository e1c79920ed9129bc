"""How learners speak, as files of the course: `aliases.yaml`, `speech.yaml`, `bands.yaml`, each read strictly.

Law: a course folder may lack any of the three, and then answers by its lessons' own words. A form is written as it is
compared, means one thing, and is no stop word.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as Folder

from content import schema, strictyaml
from content.folders import UnreadableError, read_inside
from content.shapes import validated

ALIASES, SPEECH, BANDS = "aliases.yaml", "speech.yaml", "bands.yaml"

MOST_WORDS = 3
"""Words of a form, as the reader of questions looks no further."""

SHORTEST = 2
"""Letters of a form; shorter ones would be found everywhere."""

_FORM = re.compile(r"[a-z0-9ابتثجحخدذرزسشصضطظعغفقكلمنهوي]+(?: [a-z0-9ابتثجحخدذرزسشصضطظعغفقكلمنهوي]+)*")
_TOKEN = re.compile(r"[a-z][a-z0-9]*")
_ALEF = str.maketrans("أإآٱىئؤة", "اااايي" + "وه")


@dataclass(frozen=True, slots=True)
class Tongue:
    """The three files, read; `documents` hold their faults."""

    aliases: Mapping[str, tuple[str, ...]]
    speech: schema.Speech
    bands: schema.Bands
    documents: tuple[strictyaml.Document, ...]


def read(root: Folder) -> Tongue:
    """Read the three files of a course's folder and note what is wrong in them."""
    documents = {name: _document(root, name) for name in (ALIASES, SPEECH, BANDS)}
    present = {name: document for name, document in documents.items() if document}
    speech = validated(schema.Speech, present[SPEECH]) if SPEECH in present else None
    bands = validated(schema.Bands, present[BANDS]) if BANDS in present else None
    stop_words = frozenset(_plain(word) for line in (speech.stop_words if speech else ()) for word in line.split())
    aliases = _aliases(present[ALIASES], stop_words) if ALIASES in present else {}
    return Tongue(aliases, speech or schema.Speech(), bands or schema.Bands(), tuple(present.values()))


def _document(root: Folder, name: str) -> strictyaml.Document | None:
    if not (root / name).is_symlink() and not (root / name).exists():
        return None
    try:
        return strictyaml.read(read_inside(root, name, strictyaml.SIZE_LIMIT), name)
    except UnreadableError as error:
        document = strictyaml.Document(name)
        document.fault((), error.wrong, error.right)
        return document


def _aliases(document: strictyaml.Document, stop_words: frozenset[str]) -> dict[str, tuple[str, ...]]:
    data = document.data
    if not isinstance(data, dict):
        if not document.faults:
            document.fault((), "this is no list of aliases", 'write one word a key: `token: ["form", "form"]`')
        return {}
    aliases: dict[str, tuple[str, ...]] = {}
    taken: dict[str, str] = {}
    for token, forms in data.items():
        if not _TOKEN.fullmatch(token):
            document.fault((token,), "the key is no token", "write small Latin letters and digits, as `float16`")
        elif not isinstance(forms, list) or not forms or not all(isinstance(form, str) for form in forms):
            document.fault((token,), "this is no list of forms", 'write `["form", "form"]`, each form a text')
        else:
            for index, form in enumerate(forms):
                _check_form(document, (token, index), form, stop_words)
                other = taken.setdefault(form, token)
                if form in data:
                    document.fault((token, index), f"{form} is a token of its own", "remove it here")
                elif (other, forms.index(form)) != (token, index):
                    document.fault((token, index), f"{form} stands under {other} already", "keep one of the two")
            aliases[token] = tuple(forms)
    return aliases


def _check_form(
    document: strictyaml.Document, path: tuple[str | int, ...], form: str, stop_words: frozenset[str]
) -> None:
    if not _FORM.fullmatch(form):
        right = f"write it as it is compared, perhaps {_plain(form)!r}: no marks, no punctuation, one form of alef"
        document.fault(path, f"the form {form!r} is not normalised", right)
    elif len(form.split()) > MOST_WORDS:
        document.fault(path, f"the form has more than {MOST_WORDS} words", "keep the words that matter")
    elif len(form) < SHORTEST and form.isascii() is False:
        document.fault(path, "the form is one letter", "write a longer one")
    elif form in stop_words:
        document.fault(path, f"{form} is a stop word of {SPEECH}", "remove it from one of the two")


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_ALEF)
    folded = "".join(each for each in folded if not unicodedata.combining(each) and each not in "ـء")
    return " ".join(re.findall(r"[^\W_]+", folded))
