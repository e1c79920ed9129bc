"""Every button leads somewhere, and the longest names that content may have still fit into one."""

import copy

import pytest

from bot.engine import buttons, course_map, presses
from bot.engine.buttons import LIMIT, Op
from bot.engine.course_map import Part
from bot.engine.events import ButtonPressed, TextSent
from bot.engine.replies import Choices, Reply
from bot.engine.session import Place
from bot.testing import Conversation
from content.schema import Course, Plural

REFUSALS = (
    "button.outdated",
    "button.gone",
    "ask.unknown",
    "ask.gone",
    "place.no_lesson",
    "place.gone",
    "run.forgotten",
)


def choices(said: tuple[Reply, ...]) -> list[str]:
    return [
        choice.payload
        for reply in said
        for block in reply.blocks
        if isinstance(block, Choices)
        for choice in block.choices
    ]


def words_of(said: tuple[Reply, ...]) -> str:
    return "".join(span.text for reply in said for block in reply.blocks for span in getattr(block, "spans", ()))


def kind_of(payload: str, talk: Conversation) -> str:
    """Give a payload with the item in the place of the ask, and without ids of runs, which are new every time."""
    button = buttons.parse(payload)
    assert button is not None
    ask = talk.store.asks.get(button.ref)
    ref = ask.item if ask else "" if button.ref.startswith("id0") else button.ref
    return f"{button.op}:{ref}:{button.option}"


@pytest.mark.parametrize("beginning", ["ابدأ", "درس 1", "اختبار", "بطاقات", "خرافة", "تمرين", "استكشاف", "شغّل المثال"])
def test_every_button_that_is_shown_leads_somewhere(course: Course, beginning: str) -> None:
    refusals = {phrase for key in REFUSALS if not isinstance(phrase := course.phrases[key], Plural)}
    talk = Conversation(course)
    pressed: set[str] = set()
    paths = [(talk, choices(talk.take(TextSent(beginning))))]
    while paths:
        talk, shown = paths.pop()
        for payload in shown:
            if kind_of(payload, talk) in pressed:
                continue
            pressed.add(kind_of(payload, talk))
            onward = copy.deepcopy(talk, {id(course): course})
            said = onward.take(ButtonPressed(payload))
            if onward.waiting:
                said = (*said, *onward.finish())
            assert said
            assert not any(refusal in words_of(said) for refusal in refusals), payload
            paths.append((onward, choices(said)))
    assert len(pressed) > 10


def test_the_longest_names_fit_into_a_button() -> None:
    slug, name = "a" * 24, "b" * 40
    for part in Part:
        payload = course_map.go(Place(slug, part, "c" * 24 if part is Part.SECTION else ""))
        assert len(payload) <= LIMIT
        button = buttons.parse(payload)
        assert button is not None
        assert course_map.place_of(button.ref, button.option) == Place(
            slug, part, "c" * 24 if part is Part.SECTION else ""
        )
    for op in (Op.EXAMPLE, Op.EXERCISE, Op.ANSWER):
        button = buttons.parse(presses.fitting(op, "i" * 12 if op is Op.ANSWER else slug, name))
        assert button is not None
        assert button.option == name
    for op in (Op.QUIZ, Op.CARDS, Op.MYTHS, Op.EXPLORE):
        assert buttons.parse(buttons.encode(op, slug, "99.5")) is not None


@pytest.mark.parametrize(("ref", "option"), [("", ""), ("small", ""), (".needs", ""), ("small.nothing", "")])
def test_a_place_that_is_none_is_not_read(ref: str, option: str) -> None:
    assert course_map.place_of(ref, option) is None
