"""The code cells of a notebook, in order.

Law: only code cells are read; outputs, prose and raw cells are not.
"""

import json
from collections.abc import Mapping

from bot.engine.intake.types import Reason, Refused
from bot.engine.letters import whole

_PYTHON = ("python", "ipython", "xpython")


def code_cells(text: str) -> list[str] | Refused:
    """Give the sources of the code cells that are not empty (nbformat 3 and 4)."""
    try:
        book = json.loads(text)
    except json.JSONDecodeError as error:
        return Refused(Reason.BAD_NOTEBOOK, (("line", str(error.lineno)), ("column", str(error.colno))))
    except (ValueError, RecursionError):
        return _bad()
    if not isinstance(book, dict):
        return _bad()
    language = _language(book)
    if language and not language.lower().startswith(_PYTHON):
        return Refused(Reason.NOTEBOOK_LANGUAGE, (("language", language[:40]),))
    cells = _cells(book)
    if cells is None:
        return _bad()
    sources: list[str] = []
    for cell in cells:
        if not isinstance(cell, dict):
            return _bad()
        if cell.get("cell_type") != "code":
            continue
        source = _source(cell.get("source", cell.get("input", "")))
        if source is None:
            return _bad()
        if source.strip():
            sources.append(source.replace("\r\n", "\n").replace("\r", "\n").strip("\n"))
    return sources or Refused(Reason.EMPTY_NOTEBOOK)


def _bad() -> Refused:
    """Refuse what is sound JSON, or too deep to tell, and no notebook."""
    return Refused(Reason.NOTEBOOK_SHAPE)


def _language(book: Mapping[str, object]) -> str:
    metadata = book.get("metadata")
    if not isinstance(metadata, dict):
        return ""
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        part = metadata.get(key)
        if isinstance(part, dict) and isinstance(part.get(name), str):
            return whole(str(part[name]))
    return ""


def _cells(book: Mapping[str, object]) -> list[object] | None:
    cells = book.get("cells")
    if cells is None and isinstance(book.get("worksheets"), list):
        found: list[object] = []
        for sheet in book["worksheets"] if isinstance(book["worksheets"], list) else []:
            inner = sheet.get("cells") if isinstance(sheet, dict) else None
            if not isinstance(inner, list):
                return None
            found.extend(inner)
        return found
    return cells if isinstance(cells, list) else None


def _source(source: object) -> str | None:
    if isinstance(source, str):
        return whole(source)
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return whole("".join(source))
    return None
