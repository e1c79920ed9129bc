"""That whatever is pressed, written or uploaded, forged payloads and broken characters included, gets an answer."""

import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.engine.buttons import LIMIT, Op
from bot.engine.events import ButtonPressed, CodeSent, Entity, Event, FileSent, TextSent
from bot.engine.replies import Choices, Reply, to_json
from bot.testing import Conversation
from content.schema import Course

WORDS = (
    "", "_1", "_3", "_sol", "_idk", "_join", "_leave", "more", "undo", "held", "hold", "resume", "on.1", "off.", ".x",
    "show.", "time", "run", "inspect", "kernel", "deep", "yes", "no", "0", "-1", "9" * 40, ".", "start", "export",
)  # fmt: skip
HALF = "\ud800"
half = st.characters(codec=None, categories=("Cs", "Cc", "Cf", "Lo", "Nd", "Po"))


def payloads(course: Course) -> list[str]:
    """Give names that a payload may bear: every lesson's parts, and words of the grammar's own."""
    named = [f"{lesson.slug}.{part}" for lesson in course.lessons for part in ("s", "x", "q", "none")]
    parts = [one.id for lesson in course.lessons for one in (*lesson.sections, *lesson.examples, *lesson.check)]
    return [*WORDS, *(lesson.slug for lesson in course.lessons), *named, *parts]


def pressed(replies: tuple[Reply, ...]) -> list[str]:
    return [
        choice.payload for reply in replies for block in reply.blocks if isinstance(block, Choices)
        for choice in block.choices
    ]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(chance=st.randoms(use_true_random=False), texts=st.lists(st.text(half, max_size=60), max_size=4))
def test_no_row_of_forged_presses_and_broken_texts_raises_and_every_answer_can_be_stored(
    course: Course, chance: Random, texts: list[str]
) -> None:
    talk, names, live = Conversation(course), payloads(course), ["1:cmd:start:"]
    for step in range(20):
        ref, option = chance.choice(names)[:40], chance.choice(names)[:40]
        forged = f"1:{chance.choice(list(Op)).value}:{ref}:{option}"[: LIMIT + 1]
        events: list[Event] = [ButtonPressed(forged), ButtonPressed(chance.choice(live)), ButtonPressed(forged + HALF)]
        if texts:
            events.append(TextSent(texts[step % len(texts)], (Entity("pre", -1, 10**9, HALF),)))
        replies = talk.take(chance.choice(events))
        live += pressed(replies)
        assert all(to_json(reply).encode() for reply in replies)
        if talk.waiting:
            assert all(to_json(reply).encode() for reply in talk.finish())


@pytest.mark.parametrize(
    "event",
    [
        TextSent(f"/{HALF}"),
        TextSent(f"{HALF} ما هذا؟"),
        CodeSent(f"print('{HALF}')", f"{HALF}.py"),
        FileSent(f"{HALF}.exe", b"x"),
        FileSent(f"{HALF}.py", b"print(1)"),
        FileSent("a.ipynb", json.dumps({"cells": [{"cell_type": "code", "source": f"print('{HALF}')"}]}).encode()),
        FileSent("a.ipynb", json.dumps({"cells": [{"cell_type": "code", "source": [f"'{HALF}'"]}]}).encode()),
        FileSent("a.ipynb", json.dumps({"cells": [], "metadata": {"kernelspec": {"language": f"R{HALF}"}}}).encode()),
    ],
)
def test_half_a_character_is_answered_and_goes_no_further(talk: Conversation, event: Event) -> None:
    replies = talk.take(event)
    assert replies
    assert all(to_json(reply).encode() for reply in replies)
    assert all(job.source.encode() for job in talk.waiting)
