"""What is asked next, by the misconceptions that a learner's answers showed.

Law: choosing only changes an order: nothing is left out, nothing is asked twice, and without misconceptions the
course's own order stays.
"""

from collections.abc import Mapping, Sequence

from content.schema import (
    Course,
    FillBlank,
    Item,
    Lesson,
    Myth,
    NumberAnswer,
    OrderSteps,
    PredictOutput,
    SeveralChoice,
    SingleChoice,
    Topic,
    TrueFalse,
)


def shows(item: Item) -> frozenset[str]:
    """Give the misconceptions that answers to an item can show."""
    found: list[str | None]
    match item:
        case SingleChoice() | SeveralChoice():
            found = [option.misconception for option in item.options]
        case OrderSteps():
            found = [step.misconception for step in item.steps]
        case TrueFalse():
            found = [item.to_true.misconception, item.to_false.misconception]
        case PredictOutput() | NumberAnswer() | FillBlank():
            found = [near.misconception for near in item.near]
        case _:
            found = [near.misconception for near in item.near]
    return frozenset(each for each in found if each)


def items(lesson: Lesson, counts: Mapping[str, int]) -> tuple[str, ...]:
    """Give a check's items, those first that meet the misconceptions shown most often."""

    def met(item: Item) -> int:
        return max((counts.get(each, 0) for each in shows(item)), default=0)

    return tuple(item.id for item in sorted(lesson.check, key=lambda item: -met(item)))


def next_up(lesson: Lesson, ahead: tuple[str, ...], misconception: str) -> tuple[str, ...]:
    """Bring the next item that meets a misconception shown just now to the front of those ahead."""
    meets = {item.id for item in lesson.check if misconception and misconception in shows(item)}
    found = next((item for item in ahead if item in meets), None)
    return ahead if found is None else (found, *(item for item in ahead if item != found))


def myths(course: Course, lesson: Lesson, counts: Mapping[str, int]) -> tuple[str, ...]:
    """Give a lesson's myth cards, those first whose topic saw the most misconceptions."""
    weights = by_topic(course, counts)
    return tuple(myth.id for myth in sorted(lesson.myths, key=lambda myth: -weights.get(myth.topic, 0)))


def myth_for(lesson: Lesson, topics: Sequence[Topic]) -> Myth | None:
    """Give a lesson's first myth card on one of these topics."""
    return next((myth for myth in lesson.myths if myth.topic in topics), None)


def by_topic(course: Course, counts: Mapping[str, int]) -> dict[Topic, int]:
    """Count misconceptions by the topics of the items that show them."""
    topics: dict[str, set[Topic]] = {}
    for lesson in course.lessons:
        for item in lesson.check:
            for each in shows(item):
                topics.setdefault(each, set()).add(item.topic)
    weights: dict[Topic, int] = {}
    for name, count in counts.items():
        for topic in topics.get(name, ()):
            weights[topic] = weights.get(topic, 0) + count
    return weights
