"""The course's folder -> Course: everything is read, everything wrong is gathered, and only a whole course returns.

Law: nothing is served from a half-loaded course. `load_course` returns a course without a fault or raises CourseError.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path as Folder

from pydantic import Field

from content import glossary, phrasing, recorded, rules, schema, strictyaml, tongue
from content.drafts import LESSON_FILE, Draft, read_draft
from content.faults import CourseError, Fault
from content.folders import UnreadableError, read_inside
from content.shapes import validated

HERE = Folder(__file__).parent
"""The course that this project ships."""


class CourseFile(schema.Closed):
    """`course.yaml`: the lessons in the order of the course."""

    lessons: tuple[schema.Slug, ...] = Field(min_length=1)


class RetiredFile(schema.Closed):
    """`retired.yaml`: the ids that are gone for good."""

    retired: tuple[schema.Retired, ...]


def load_course(root: Folder = HERE) -> schema.Course:
    """Return the course in `root`; raises CourseError with every fault of every file."""
    course, faults = survey(root)
    if course is None:
        raise CourseError(faults)
    return course


def survey(root: Folder) -> tuple[schema.Course | None, tuple[Fault, ...]]:
    """Return the course, if it has no fault, and every fault. Raises nothing for what the files hold."""
    listed = _document(root, "course.yaml")
    order = validated(CourseFile, listed)
    gone_file = _document(root, "retired.yaml")
    gone = validated(RetiredFile, gone_file)
    phrases_file = _document(root, "phrases.yaml")
    phrases = _phrases(phrases_file)
    drafts = [read_draft(root / "lessons" / slug, slug) for slug in dict.fromkeys(order.lessons if order else ())]
    if order:
        rules.check_order(listed, order.lessons, _folders(root))
    retired = gone.retired if gone else ()
    rules.check_retired(gone_file, retired, drafts)
    phrasing.check_phrases(phrases_file, phrases)
    for draft in drafts:
        rules.check_lesson(draft)
    rules.check_ids(drafts)
    spoken = tongue.read(root)
    terms, terms_file = glossary.read(root)
    named = (terms_file,) if terms_file else ()
    if terms_file:
        glossary.check_terms(terms_file, terms, drafts)
    read = (phrases_file, *named, *(draft.document for draft in drafts))
    glossary.check_words(root, terms, read, drafts)
    machines, records = recorded.read(root)
    documents = (listed, gone_file, *spoken.documents, *records, *read)
    faults = tuple(sorted({fault for document in documents for fault in document.faults}))
    if faults:
        return None, faults
    return _course(drafts, phrases, retired, spoken, terms, machines), ()


def _document(root: Folder, name: str) -> strictyaml.Document:
    try:
        return strictyaml.read(read_inside(root, name, strictyaml.SIZE_LIMIT), name)
    except UnreadableError as error:
        document = strictyaml.Document(name)
        document.fault((), error.wrong, error.right)
        return document


def _folders(root: Folder) -> list[str]:
    return sorted(path.parent.name for path in root.glob(f"lessons/*/{LESSON_FILE}"))


def _phrases(document: strictyaml.Document) -> dict[str, schema.Phrase]:
    data = document.data
    if not isinstance(data, dict):
        if not document.faults:
            document.fault((), "this is no list of phrases", "write one phrase a key: `key: text`")
        return {}
    phrases: dict[str, schema.Phrase] = {}
    for key, value in data.items():
        if isinstance(value, dict):
            plural = validated(schema.Plural, document, (key,))
            if plural:
                phrases[key] = plural
        elif isinstance(value, str) and value:
            phrases[key] = value
        elif (key,) not in document.spoilt:
            right = "write a text, or the six forms zero, one, two, few, many, other"
            document.fault((key,), "this is no phrase", right)
    return phrases


def _course(  # noqa: PLR0913 - a part of the course each
    drafts: Iterable[Draft],
    phrases: Mapping[str, schema.Phrase],
    retired: tuple[schema.Retired, ...],
    spoken: tongue.Tongue,
    terms: tuple[schema.Term, ...],
    machines: tuple[schema.RecordedMachine, ...],
) -> schema.Course:
    lessons = tuple(draft.lesson for draft in drafts if draft.lesson)
    files = {f"{draft.slug}/{name}": text for draft in drafts for name, text in draft.files.items()}
    pictures = {f"{draft.slug}/{name}": raw for draft in drafts for name, raw in draft.pictures.items()}
    return schema.Course(
        lessons=lessons,
        phrases=phrases,
        retired=retired,
        files=files,
        pictures=pictures,
        aliases=spoken.aliases,
        speech=spoken.speech,
        bands=spoken.bands,
        glossary=terms,
        recorded=machines,
        hash=_hash(lessons, phrases, retired, files, pictures),
    )


def _hash(
    lessons: Iterable[schema.Lesson],
    phrases: Mapping[str, schema.Phrase],
    retired: Iterable[schema.Retired],
    files: Mapping[str, str],
    pictures: Mapping[str, bytes],
) -> str:
    """SHA-256 of what the course says: comments, spacing and the order of keys in YAML do not change it."""
    said = {
        "lessons": [lesson.model_dump(mode="json") for lesson in lessons],
        "phrases": {
            key: phrase if isinstance(phrase, str) else phrase.model_dump(mode="json")
            for key, phrase in phrases.items()
        },
        "retired": [each.model_dump(mode="json") for each in retired],
        "files": dict(files),
        "pictures": {name: hashlib.sha256(raw).hexdigest() for name, raw in pictures.items()},
    }
    return hashlib.sha256(json.dumps(said, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
