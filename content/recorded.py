"""What the course's examples gave on machines seen before, `measurements/<machine>.json`: shown beside, never instead.

Law: a record names the code that it was made of by its digest. One of other code is stale and is shown to nobody; it is
no fault of the course, for only a run on that machine can mend it.
"""

import json
from pathlib import Path as Folder

from content import schema, strictyaml
from content.folders import UnreadableError, read_inside, text_of
from content.shapes import validated

FOLDER = "measurements"
_SIZE_LIMIT = 4 << 20


def read(root: Folder) -> tuple[tuple[schema.RecordedMachine, ...], tuple[strictyaml.Document, ...]]:
    """Read every record of a course's folder; without the folder there are none."""
    machines, documents = [], []
    for path in sorted((root / FOLDER).glob("*.json")):
        name = f"{FOLDER}/{path.name}"
        document = strictyaml.Document(name)
        documents.append(document)
        try:
            document.data = json.loads(text_of(read_inside(root, name, _SIZE_LIMIT), name))
        except UnreadableError as error:
            document.fault((), error.wrong, error.right)
            continue
        except ValueError as error:
            document.fault((), f"this is no JSON: {error}", "record the machine again")
            continue
        machine = validated(schema.RecordedMachine, document)
        if machine:
            machines.append(machine)
    return tuple(machines), tuple(documents)


def wanting(course: schema.Course) -> list[str]:
    """Name what is missing or stale in each record: `machine: lesson/example on device: missing`."""
    found = []
    for machine in course.recorded:
        codes = {(run.lesson, run.example, run.device): run.code for run in machine.runs}
        for lesson in course.lessons:
            for example in lesson.examples:
                for device in example.devices:
                    if device not in machine.devices:
                        continue
                    code = codes.get((lesson.slug, example.id, device))
                    now = course.digest(lesson.slug, example)
                    if code != now:
                        why = "missing" if code is None else "stale"
                        found.append(f"{machine.title}: {lesson.slug}/{example.id} on {device}: {why}")
    return found
