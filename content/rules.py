"""What the schema cannot say about a course: references, uniqueness, right answers, prose and code fit for a chat.

Law: a rule looks at drafts and notes faults there, each with its place and with what would be right; it changes
nothing, runs nothing, and stays silent about what is already known to be wrong.
"""

from collections.abc import Iterable, Mapping, Sequence

from content import answers, prose, schema, snippets
from content.drafts import LESSON_FILE, Draft, dark, named_files, strings
from content.strictyaml import Document

OPTION_LIMIT = 60
"""Characters of an option's text: it is a button's whole label, and longer ones are cut on phones."""

TITLE_LIMIT = 60
"""Characters of a title: it is a button of the course map."""

QUESTION_LIMIT = 300
"""Characters of a question, so that it and its buttons are seen together."""

DRAWINGS = "drawings/"
"""The folder of a lesson's figure scripts, which are drawn from and not shown."""

_NOT_PROSE = {
    "alternatives", "answer", "check", "code", "devices", "example", "expect", "experiment", "file", "holds_when", "id",
    "kind", "misconception", "name", "against", "reference", "slug", "source", "starter", "to", "topic", "truth",
}  # fmt: skip
_LIMITS = {"title": TITLE_LIMIT, "question": QUESTION_LIMIT, "questions": 200, "feedback": schema.FEEDBACK_LIMIT}


def check_lesson(draft: Draft) -> None:
    """Note what is wrong inside one lesson."""
    if draft.lesson and draft.lesson.slug != draft.slug:
        right = f"write {draft.slug}, or rename the folder"
        draft.fault(("slug",), f"the slug differs from the folder's name {draft.slug}", right)
    _prose(draft.document)
    _code(draft)
    _examples(draft)
    answers.check_items(draft)
    answers.check_myths(draft)
    answers.check_exercises(draft)
    _blocks(draft)
    _folder(draft)


# --- prose ------------------------------------------------------------------------------------------------------------


def _prose(document: Document) -> None:
    for path, text in strings(document.data):
        keys = [step for step in path if isinstance(step, str)]
        if not keys or keys[-1] in _NOT_PROSE or path in document.spoilt:
            continue
        button = keys[-1] == "text" and keys[:1] == ["check"]
        limit = OPTION_LIMIT if button else _LIMITS.get(keys[-1], schema.BUBBLE_LIMIT)
        for offset, wrong, right in prose.mistakes(text, limit):
            document.fault(path, wrong, right, offset)
        if not text.strip():
            document.fault(path, "the text is empty", "write it, or remove the key")


# --- code -------------------------------------------------------------------------------------------------------------


def _code(draft: Draft) -> None:
    for name, source in sorted(draft.files.items()):
        if name.endswith(".py"):
            for each in snippets.mistakes(source):
                draft.fault_in(name, each.line, each.wrong, each.right)


def _examples(draft: Draft) -> None:
    known = _raw_ids(draft, "examples")
    for path, part in draft.parts:
        for key in ("example", "experiment"):
            wanted = getattr(part, key, None)
            if isinstance(wanted, str) and wanted not in known:
                right = f"write one of {', '.join(sorted(known))}, or add the example"
                draft.fault((*path, key), f"there is no example {wanted} in this lesson", right)
    for path, example in draft.each(schema.Example):
        if example.kind == "time" and example.file in draft.files:
            for each in snippets.timing_mistakes(draft.files[example.file]):
                draft.fault_in(example.file, each.line, each.wrong, each.right)
        if example.kind == "run" and example.expected is None:
            right = "name the file with its output, with varies: true when that depends on the machine"
            draft.fault(path, "an example that is run has no expected output", right)
        if len(set(example.devices)) != len(example.devices) or not example.devices:
            draft.fault((*path, "devices"), "a device is named twice or none is", "name each device once")
        if example.gpus != 1 and "cuda" not in example.devices:
            draft.fault((*path, "gpus"), "GPUs are named and `cuda` is not", "add cuda to devices, or leave gpus out")


def _raw_ids(draft: Draft, key: str) -> dict[str, int]:
    data = draft.document.data
    listed = data.get(key) if isinstance(data, Mapping) else None
    entries = listed if isinstance(listed, list) else []
    return {
        each["id"]: i for i, each in enumerate(entries) if isinstance(each, Mapping) and isinstance(each.get("id"), str)
    }


# --- places and folders -----------------------------------------------------------------------------------------------


def _blocks(draft: Draft) -> None:
    for path, part in draft.parts:
        for key, ending in (
            ("file", ".png" if isinstance(part, schema.PictureBlock) else ".py"),
            ("code", ".py"), ("check", ".py"), ("starter", ".py"), ("reference", ".py"), ("expect", ".txt"),
        ):  # fmt: skip
            name = getattr(part, key, None)
            wanted = ".txt" if isinstance(part, schema.Expected) else ending
            if isinstance(name, str) and not name.endswith(wanted):
                draft.fault((*path, key), f"{name} has another ending than {wanted}", f"name a {wanted} file")
    sections = [section.id for _, section in draft.each(schema.Section)]
    for index, (path, section) in enumerate(draft.each(schema.Section)):
        if section.id in sections[:index]:
            draft.fault((*path, "id"), f"the section {section.id} exists already in this lesson", "choose another id")
        asked = [answers.normalised(question) for question in section.questions]
        for number, question in enumerate(asked):
            if question in asked[:number]:
                draft.fault((*path, "questions", number), "the question is asked twice", "ask another way or remove it")


def _folder(draft: Draft) -> None:
    if not draft.lesson and not draft.document.data:
        return  # nothing of the lesson could be read: which files it names is not known
    used = {name for _, name in named_files(draft)} | set(draft.pictures) | {LESSON_FILE}
    if not draft.lesson:  # what could not be understood may name files too
        texts = {text for _, text in strings(draft.document.data)}
        used |= texts | {dark(text) for text in texts if text.endswith(".png")}
    drawn = {name.removesuffix(".png") for _, name in named_files(draft) if name.endswith(".png")}
    for name in draft.present:
        if name.startswith(DRAWINGS) and name.endswith(".py"):
            stem = "pictures/" + name.removeprefix(DRAWINGS).removesuffix(".py")
            if stem not in drawn and draft.lesson:
                draft.fault_in(name, 1, f"no section shows {stem}.png, which this draws", "show it or delete the file")
        elif name not in used:
            draft.fault_in(name, 1, "nothing in the lesson names this file", "use it in lesson.yaml or delete it")


# --- across files -----------------------------------------------------------------------------------------------------


def check_order(document: Document, slugs: Sequence[str], folders: Sequence[str]) -> None:
    """Note lessons named twice, and folders of lessons that the course does not name."""
    for index, slug in enumerate(slugs):
        if slug in slugs[:index]:
            document.fault(("lessons", index), f"the lesson {slug} is named twice", "keep one of the two")
    for folder in folders:
        if folder not in slugs:
            document.fault(("lessons",), f"the folder lessons/{folder} is not named", "add it, or move it elsewhere")


def check_ids(drafts: Iterable[Draft]) -> None:
    """Note ids that two things of the course share."""
    seen: dict[str, str] = {}
    for draft in drafts:
        for path, part in draft.parts:
            if not isinstance(part, schema.Example | schema.Asked | schema.Card | schema.Myth | schema.Exercise):
                continue
            where = f"{draft.document.file}:{draft.document.line((*path, 'id'))}"
            if part.id in seen:
                wrong = f"the id {part.id} is taken ({seen[part.id]})"
                draft.fault((*path, "id"), wrong, "choose an id that the course has nowhere else")
            seen.setdefault(part.id, where)


def check_retired(document: Document, retired: Sequence[schema.Retired], drafts: Iterable[Draft]) -> None:
    """Note retired ids that are in use again or lead nowhere."""
    gone = [each.id for each in retired]
    alive = set()
    for draft in drafts:
        for path, part in draft.parts:
            own = getattr(part, "id", None)
            if not isinstance(own, str) or isinstance(part, schema.Option | schema.Step):
                continue
            alive.add(own)
            if own in gone and not isinstance(part, schema.Section):
                draft.fault(
                    (*path, "id"), f"the id {own} is retired", "choose a new one: learners' records have the old"
                )
    for index, each in enumerate(retired):
        if each.id in gone[:index]:
            document.fault(("retired", index, "id"), f"the id {each.id} is retired twice", "keep one entry")
        if each.to is not None and each.to not in alive:
            document.fault(
                ("retired", index, "to"), f"there is no {each.to} in the course", "name a living id, or none"
            )
