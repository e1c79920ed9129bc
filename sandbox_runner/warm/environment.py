"""Whether the learners' environment on disk is still the one that a parent has loaded.

Law: names and times of change only; nothing of it is opened.
"""

import os
from pathlib import Path

from sandbox_runner.sandbox.interpreter import Interpreter


def stamp(interpreter: Interpreter) -> tuple[tuple[str, int], ...]:
    """Give what changes when a package comes, goes or is replaced: folders of packages and their own records."""
    found: list[tuple[str, int]] = []
    for here, _ in interpreter.binds:
        for packages in sorted(Path(here).glob("lib/python3*/site-packages")):
            found.append((str(packages), _changed(packages)))
            found += [(entry.name, _changed(entry)) for entry in sorted(packages.iterdir()) if entry.is_dir()]
        found.append((here, _changed(Path(here, "pyvenv.cfg"))))
    return tuple(found)


def _changed(path: Path) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
