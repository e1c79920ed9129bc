"""A new lesson's folder, complete from the first minute: every part is there, and each text says what to write in it.

Law: what the template writes fits the schema and passes every rule, so that a lesson can be previewed while it is being
written; what is still the template's is named by `unwritten`, and a course with such texts does not pass its check.
"""

import re
from collections.abc import Iterator
from pathlib import Path as Folder

from content import schema, strictyaml
from content.drafts import LESSON_FILE, strings
from content.faults import Fault, spelled
from content.folders import UnreadableError, files_under, read_inside, text_of

MARK = "يُكتب هنا:"
"""What begins a text that nobody has written yet; behind it stands what to write."""

TEMPLATE = Folder(__file__).parent / "template.yaml"
"""A lesson with every part; `@W` stands for the mark, `@SLUG`, `@ID` and `@TOPICS` for what their names say."""

_SLUG = re.compile(r"[a-z][a-z0-9-]{0,23}")

FILES = {
    "first.py": "import numpy as np\n\nx = np.arange(4)\nprint(int(x.sum()))\n",
    "first.txt": "6\n",
    "compared.py": (
        '# %% setup\nimport numpy as np\n\nn = 1000\n\n\ndef make(rng, n):\n    return {"x": rng.normal(size=n)}\n\n\n'
        'x = make(np.random.default_rng(0), n)["x"]\n\n# %% loop\ntotal = 0.0\nfor v in x:\n    total += v\ntotal\n\n'
        "# %% array\nx.sum()\n"
    ),
    "task/starter.py": (
        'import numpy as np\n\n\ndef make(rng, n):\n    return {"x": rng.normal(size=n)}\n\n\ndef solve(x):\n'
        "    total = 0.0\n    for v in x:\n        total += v * v\n    return np.float64(total)\n"
    ),
    "task/reference.py": (
        'import numpy as np\n\n\ndef make(rng, n):\n    return {"x": rng.normal(size=n)}\n\n\n'
        "def solve(x):\n    return np.sum(x * x)\n"
    ),
    "quiz/printed.py": "import numpy as np\n\nprint(np.ones((2, 3)).size)\n",
}
"""The template's code: it runs as it stands, and is to be replaced by the lesson's own."""


class RefusedError(Exception):
    """A lesson cannot be begun: what is wrong, and what would be right."""


def begin(root: Folder, slug: str) -> list[str]:
    """Write a new lesson's folder and name it in `course.yaml`; gives the files, relative to `root`.

    Raises RefusedError, having changed nothing, for a name that is none or is taken.
    """
    if not _SLUG.fullmatch(slug):
        wrong = f"{slug!r} is no lesson's name; write 1 to 24 small Latin letters, digits and hyphens, a letter first"
        raise RefusedError(wrong)
    folder = root / "lessons" / slug
    if folder.exists():
        wrong = f"the folder lessons/{slug} is there already; choose another name, or delete it first"
        raise RefusedError(wrong)
    listed = root / "course.yaml"
    try:
        order = listed.read_text(encoding="utf-8").rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        wrong = f"{listed} cannot be read ({error}); give --root the folder with course.yaml"
        raise RefusedError(wrong) from None
    if not re.search(r"^lessons:[ ]*$", order, re.MULTILINE):
        wrong = "course.yaml does not list its lessons one a line, each after a dash; write them so"
        raise RefusedError(wrong)
    written = {LESSON_FILE: lesson_text(slug), **FILES}
    for name, text in written.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    listed.write_text(f"{order}\n  - {slug}\n", encoding="utf-8")
    return [f"lessons/{slug}/{name}" for name in written]


def unwritten(root: Folder) -> list[Fault]:
    """Name every text and every code file under `root` that is still the template's, with its line."""
    found: list[Fault] = []
    for path in sorted((root / "lessons").glob(f"*/{LESSON_FILE}")):
        slug = path.parent.name
        file = f"lessons/{slug}/{LESSON_FILE}"
        try:
            document = strictyaml.read(read_inside(path.parent, LESSON_FILE, strictyaml.SIZE_LIMIT), file)
        except UnreadableError:
            continue  # said by the check
        found += _texts(document)
        found += _code(path.parent, slug)
    return found


def _texts(document: strictyaml.Document) -> Iterator[Fault]:
    for path, text in strings(document.data):
        if text.startswith(MARK):
            wanted = text.removeprefix(MARK).strip()
            yield Fault(document.file, document.line(path), spelled(path), "still to write", wanted)


def _code(folder: Folder, slug: str) -> Iterator[Fault]:
    for name in files_under(folder):
        if name in FILES and name.endswith(".py"):
            try:
                same = text_of(read_inside(folder, name, len(FILES[name].encode())), name) == FILES[name]
            except UnreadableError:
                continue  # longer than the template's, so it is another
            if same:
                yield Fault(f"lessons/{slug}/{name}", 1, "", "still the template's code", "write the lesson's own")


def lesson_text(slug: str) -> str:
    """Write the template of `lesson.yaml`, with ids that begin with the lesson's name."""
    short = slug[:20].rstrip("-")
    topics = ", ".join(topic.value for topic in schema.Topic)
    template = TEMPLATE.read_text(encoding="utf-8")
    return template.replace("@SLUG", slug).replace("@ID", short).replace("@TOPICS", topics).replace("@W", MARK)
