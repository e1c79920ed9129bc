"""The rules of the phrases: braces that balance, forms that agree, six of them where something is counted.

Law: `{n}` is the counted number and lives in the six forms only; a figure that is not counted has another name.
"""

import re
from collections.abc import Mapping
from typing import assert_never

from content import prose, schema
from content.drafts import strings
from content.faults import Path
from content.strictyaml import Document

_PLACE = re.compile(r"\{([a-z_]+)\}")


def check_phrases(document: Document, phrases: Mapping[str, schema.Phrase]) -> None:
    """Note phrases whose placeholders are broken, whose forms disagree, or whose number has no six forms."""
    for path, text in strings(document.data):
        plain = _PLACE.sub("0", text)  # a figure stands there when it is said
        for offset, wrong, right in prose.mistakes(plain, schema.BUBBLE_LIMIT):
            document.fault(path, wrong, right, offset)
    for key, phrase in phrases.items():
        if not re.fullmatch(r"[a-z][a-z0-9_.]*", key):
            document.fault((key,), "the key is not allowed here", "write small Latin letters, digits, _ and dots")
        match phrase:
            case str():
                if "n" in (_placeholders(document, (key,), phrase) or ()):
                    right = "write the six forms zero, one, two, few, many, other; name another figure otherwise"
                    document.fault((key,), "{n} counts something, which Arabic says in six forms", right)
            case schema.Plural():
                _plural(document, key, phrase)
            case _:
                assert_never(phrase)


def _plural(document: Document, key: str, plural: schema.Plural) -> None:
    forms = {name: _placeholders(document, (key, name), getattr(plural, name)) for name in schema.Plural.model_fields}
    everywhere = set().union(*(found for found in forms.values() if found)) - {"n"}
    for name, found in forms.items():
        if found is None:
            continue
        for missing in sorted(everywhere - found if name != "zero" else ()):  # "nothing" may say less
            document.fault((key, name), f"the form lacks {{{missing}}}, which another form has", "add it here")
        if name in ("few", "many", "other") and "n" not in found:
            document.fault((key, name), "the form lacks {n}, the number", "write {n} where the number is said")


def _placeholders(document: Document, path: Path, text: str) -> set[str] | None:
    broken = re.search(r"[{}]", _PLACE.sub("", text))
    if broken:
        wrong = f"a brace {broken[0]} that encloses no placeholder"
        document.fault(path, wrong, "write {name} with small Latin letters and _, or remove the brace")
        return None
    return set(_PLACE.findall(text))
