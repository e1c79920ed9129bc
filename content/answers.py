"""The rules of what is asked: one right option, answers that can be told apart, experiments that decide.

Law: texts are compared after `normalised`, as a learner's answer is, so that what looks different is different.
"""

import re
import unicodedata
from collections.abc import Sequence

from content import schema, snippets
from content.drafts import Draft
from content.faults import Path

LEAST_KINDS = 3
"""Kinds of items in a lesson's check."""

LEAST_RIGHT = 2
"""Right options of a several-choice."""

ANSWER_LIMIT = 200
"""Characters of an answer that are stored."""

_BLANK = re.compile("_{3,}")
_EASTERN = str.maketrans("٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹٫٬", "01234567890123456789.,")
_FOLDED = str.maketrans({"أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ة": "ه", "ؤ": "و", "ئ": "ي", "ـ": None, "`": None})


def normalised(text: str) -> str:
    """Return a text as answers are compared: composed, digits 0-9, spaces and letter forms folded, lower case."""
    text = unicodedata.normalize("NFKC", text).translate(_EASTERN).translate(_FOLDED)
    text = "".join(each for each in text if unicodedata.category(each) not in ("Mn", "Cf"))
    return " ".join(text.split()).casefold().strip(" .،؛؟!")


def check_items(draft: Draft) -> None:
    """Note items that cannot be answered or graded as they stand."""
    items = [(path, part) for path, part in draft.each(schema.Asked) if path[0] == "check"]
    kinds = {str(getattr(item, "kind", "")) for _, item in items}
    if draft.lesson and len(kinds) < LEAST_KINDS:
        shown = ", ".join(sorted(kinds))
        draft.fault(("check",), f"the items are of {len(kinds)} kinds ({shown})", f"use at least {LEAST_KINDS} kinds")
    for path, item in items:
        match item:
            case schema.SingleChoice():
                _choice(draft, path, item)
            case schema.SeveralChoice():
                _several(draft, path, item)
            case schema.TrueFalse():
                _true_false(draft, path, item)
            case schema.OrderSteps():
                _order(draft, path, item)
            case schema.FillBlank():
                _blank(draft, path, item)
            case schema.PredictOutput():
                _prediction(draft, path, item)
            case schema.WriteCode():
                _written(draft, path, item)
            case schema.NumberAnswer():
                _number(draft, path, item)
            case _:  # the schema's union has no other
                continue


def _choice(draft: Draft, path: Path, item: schema.SingleChoice) -> None:
    right = [option.id for option in item.options if option.right]
    if len(right) != 1:
        wrong = f"{len(right)} options are right"
        draft.fault((*path, "options"), wrong, "mark exactly one option with right: true")
    _options(draft, path, item.options)


def _options(draft: Draft, path: Path, options: Sequence[schema.Option]) -> None:
    names = [option.id for option in options]
    _different(draft, (*path, "options"), names, "id", names)
    _different(draft, (*path, "options"), [normalised(option.text) for option in options], "text", names)
    _different(draft, (*path, "options"), [normalised(option.feedback) for option in options], "feedback", names)
    for index, option in enumerate(options):
        if option.right and option.misconception:
            where = (*path, "options", index, "misconception")
            draft.fault(where, "the right option shows a misconception", "remove the key here")


def _several(draft: Draft, path: Path, item: schema.SeveralChoice) -> None:
    right = sum(option.right for option in item.options)
    if right < LEAST_RIGHT:
        wrong = f"{right} of the options are right" if right != 1 else "1 option is right"
        draft.fault((*path, "options"), wrong, "mark at least two, or use kind: single")
    if right == len(item.options):
        draft.fault((*path, "options"), "every option is right", "add one that is not")
    _options(draft, path, item.options)
    _storable(draft, (*path, "options"), [option.id for option in item.options])


def _storable(draft: Draft, path: Path, names: Sequence[str]) -> None:
    length = len(" ".join(names))
    if length > ANSWER_LIMIT:
        wrong = f"the ids have {length} characters together"
        draft.fault(path, wrong, f"shorten them: an answer of them all is stored in {ANSWER_LIMIT}")


def _true_false(draft: Draft, path: Path, item: schema.TrueFalse) -> None:
    key, side = ("to_true", item.to_true) if item.answer else ("to_false", item.to_false)
    if side.misconception:
        draft.fault((*path, key, "misconception"), "the right answer shows a misconception", "remove the key here")
    if normalised(item.to_true.feedback) == normalised(item.to_false.feedback):
        draft.fault((*path, "to_false", "feedback"), "the feedback is the same for both answers", "write another")


def _order(draft: Draft, path: Path, item: schema.OrderSteps) -> None:
    names = [step.id for step in item.steps]
    for key, values in (
        ("id", names),
        ("text", [normalised(step.text) for step in item.steps]),
        ("feedback", [normalised(step.feedback) for step in item.steps]),
    ):
        _different(draft, (*path, "steps"), values, key, names, "step")
    _storable(draft, (*path, "steps"), names)


def _blank(draft: Draft, path: Path, item: schema.FillBlank) -> None:
    source = draft.files.get(item.code, "") if item.code else ""
    blanks = len(_BLANK.findall(item.question)) + len(_BLANK.findall(source))
    if blanks != 1 and not (item.code and item.code not in draft.files):
        wrong = f"the question and its code have {blanks} blanks" if blanks else "there is no blank"
        draft.fault((*path, "question"), wrong, "write exactly one `____`, in the question or in the code")
    _apart(draft, path, item)


def _different(  # noqa: PLR0913 - one comparison of one key
    draft: Draft, path: Path, values: Sequence[str], key: str, names: Sequence[str], what: str = "option"
) -> None:
    for index, value in enumerate(values):
        if value in values[:index]:
            wrong = f"the {key} says the same as that of the {what} {names[values.index(value)]}"
            draft.fault((*path, index, key), wrong, f"write another {key}")


def _prediction(draft: Draft, path: Path, item: schema.PredictOutput) -> None:
    if item.answer != " ".join(item.answer.translate(_EASTERN).split()):
        right = "write it with single spaces, without spaces around it, and with the digits 0-9"
        draft.fault((*path, "answer"), "the answer is not in the form in which it is compared", right)
    _apart(draft, path, item)


def _written(draft: Draft, path: Path, item: schema.WriteCode) -> None:
    shown = {block.file for _, block in draft.each(schema.CodeBlock)} | {item.code, item.check}
    if item.reference in shown:
        draft.fault((*path, "reference"), "the solution is shown", "name a file that nothing else shows")
    expected = draft.files.get(item.expect)
    if expected is not None and not expected.strip():
        draft.fault((*path, "expect"), f"{item.expect} is empty", "write what the check prints for the solution")
    for index, near in enumerate(item.near):
        if expected is not None and near.answer.split() == expected.split():
            where = (*path, "near", index, "answer")
            draft.fault(where, "this is what the right code prints", "write what the near miss prints")


def _apart(draft: Draft, path: Path, item: schema.PredictOutput | schema.FillBlank) -> None:
    seen = {normalised(item.answer)}
    others = [((*path, "alternatives", i), each) for i, each in enumerate(item.alternatives)]
    others += [((*path, "near", i, "answer"), each.answer) for i, each in enumerate(item.near)]
    for where, text in others:
        if normalised(text) in seen:
            draft.fault(where, f"{text!r} is compared as another answer of this item is", "remove it or change it")
        seen.add(normalised(text))


def _number(draft: Draft, path: Path, item: schema.NumberAnswer) -> None:
    if not item.within and not item.rel:
        right = "add within (how far it may be) or rel (which part of the value)"
        draft.fault(path, "the number has no tolerance", right)
    if item.rel and not item.value:
        draft.fault((*path, "rel"), "a part of zero is zero", "use within for the value 0")
    allowed = max(item.within, item.rel * abs(item.value))
    for index, near in enumerate(item.near):
        where = (*path, "near", index, "answer")
        try:
            value = float(near.answer)
        except ValueError:
            draft.fault(where, f"{near.answer!r} is no number", "write the near miss as a number between quotes")
            continue
        if abs(value - item.value) <= allowed:
            draft.fault(where, f"{near.answer} counts as right already", "choose another near miss or less tolerance")


def check_myths(draft: Draft) -> None:
    """Note myth cards whose experiment does not measure what decides them."""
    examples = {example.id: example for _, example in draft.each(schema.Example)}
    for path, myth in draft.each(schema.Myth):
        example = examples.get(myth.experiment)
        if example is None:
            continue  # said by `_examples` already
        if example.kind != "time":
            draft.fault((*path, "experiment"), f"the example {example.id} is not timed", "name one with kind: time")
            continue
        names = snippets.variants(draft.files.get(example.file, ""))
        if not names:
            continue
        finding = (*path, "finding")
        if myth.finding.name not in names:
            right = f"write one of {', '.join(names[1:])}" if names[1:] else "add the variant"
            draft.fault((*finding, "name"), f"{example.file} has no variant {myth.finding.name}", right)
        if myth.finding.against != names[0]:
            wrong = f"{myth.finding.against} is not the first variant of {example.file}"
            draft.fault((*finding, "against"), wrong, f"write {names[0]}: all variants are measured against the first")
        if myth.finding.name == myth.finding.against:
            draft.fault((*finding, "name"), "a variant is compared with itself", "name another variant")
        if len(set(myth.finding.holds_when)) != len(myth.finding.holds_when):
            draft.fault((*finding, "holds_when"), "an outcome is named twice", "name each once")


def check_exercises(draft: Draft) -> None:
    """Note exercises whose files lack `make` or `solve`, or whose solution is shown."""
    for path, exercise in draft.each(schema.Exercise):
        for name in (exercise.starter, exercise.reference):
            for each in snippets.exercise_mistakes(draft.files.get(name, "def make(rng, n): ...\ndef solve(): ...")):
                draft.fault_in(name, each.line, each.wrong, each.right)
        if exercise.starter == exercise.reference:
            draft.fault((*path, "reference"), "starter and reference are the same file", "name another file")
        shown = {block.file for _, block in draft.each(schema.CodeBlock)}
        if exercise.reference in shown:
            draft.fault((*path, "reference"), "a section shows the reference", "keep the solution out of the sections")
