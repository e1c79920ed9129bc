"""Votes on myth cards: the first counts, once; a card is played again without another; the machine decides."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.engine import replies
from bot.engine.events import ButtonPressed, TextSent
from bot.engine.replies import Choices, Reply
from bot.testing import CAPABLE, Conversation
from content.schema import Course
from sandbox_runner.protocol import Claim, Device, Ending, Job, Ratio, Result

VOTES = ("حقيقة", "خرافة", "بحسب الجهاز")


def text(said: tuple[Reply, ...]) -> str:
    return "\n".join(replies.to_json(reply) for reply in said)


def pressed(talk: Conversation, said: tuple[Reply, ...], label: str) -> tuple[Reply, ...]:
    blocks = (block for reply in said for block in reply.blocks if isinstance(block, Choices))
    payloads = {choice.label: choice.payload for block in blocks for choice in block.choices}
    return talk.take(ButtonPressed(payloads[label]))


def race(job: Job, claim: Claim) -> Result:
    ratio = Ratio("array", "loop", 2.0, (1.9, 2.1), claim, 20)
    return Result(job.id, job.kind, Ending.OK, job.device, ratios=(ratio,))


def played(talk: Conversation, vote: str) -> tuple[Reply, ...]:
    pressed(talk, talk.take(TextSent("خرافة أم حقيقة")), vote)
    return talk.finish(lambda job: race(job, Claim.FASTER))


def test_a_vote_is_kept_and_counted_beside_the_measured_verdict(talk: Conversation) -> None:
    said = text(played(talk, "خرافة"))
    assert talk.store.tries.votes == {(talk.session.learner, "myth-one"): (1, "myth")}
    assert "يوافق الادعاء" in said


def test_a_card_played_again_asks_for_no_vote_and_changes_none(talk: Conversation) -> None:
    for _ in range(3):
        played(talk, "خرافة")
    before = dict(talk.store.tries.votes)
    said = talk.take(TextSent("خرافة أم حقيقة"))
    assert "سبق التصويت" in text(said)
    pressed(talk, said, "إعادة التجربة")
    assert len(talk.waiting) == 1
    assert "يخالف الادعاء" in text(talk.finish(lambda job: race(job, Claim.SLOWER)))
    assert talk.store.tries.votes == before


def test_a_card_whose_meaning_changed_takes_a_new_vote(talk: Conversation, course: Course) -> None:
    for _ in range(3):
        played(talk, "خرافة")
    lesson = course.lessons[0]
    myths = tuple(each.model_copy(update={"rev": 2}) for each in lesson.myths)
    newer = lesson.model_copy(update={"myths": myths})
    talk.course = course.model_copy(update={"lessons": (newer, *course.lessons[1:]), "hash": "b" * 64})
    said = text(played(talk, "حقيقة"))
    assert talk.store.tries.votes[talk.session.learner, "myth-one"] == (2, "fact")
    assert '"text":"1"' in said


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ((Claim.FASTER, Claim.SLOWER), "يختلف باختلاف الجهاز"),
        ((Claim.FASTER, Claim.FASTER), "صحيح على الجهازين"),
        ((Claim.SLOWER, Claim.SAME), "غير صحيح على الجهازين"),
        ((Claim.UNCLEAR, Claim.FASTER), "لم يُحسم الادعاء"),
    ],
)
def test_both_devices_give_their_verdicts_together(course: Course, claims: tuple[Claim, Claim], words: str) -> None:
    lesson = course.lessons[0]
    examples = tuple(each.model_copy(update={"devices": ("cpu", "cuda")}) for each in lesson.examples)
    there = course.model_copy(update={"lessons": (lesson.model_copy(update={"examples": examples}),)})
    talk = Conversation(there, replace(CAPABLE, devices=(Device.CPU, Device.CUDA)))
    pressed(talk, talk.take(TextSent("خرافة أم حقيقة")), "حقيقة")
    assert [job.device for job in talk.waiting] == [Device.CPU, Device.CUDA]
    assert "كل الأصوات" not in text(talk.finish(lambda job: race(job, claims[0])))
    said = text(talk.finish(lambda job: race(job, claims[1])))
    assert words in said
    assert "كل الأصوات" in said
    assert said.count("شرح myth-one") == 1


steps = st.one_of(
    st.sampled_from((*VOTES, "خرافة أم حقيقة", "إعادة التجربة", "السبب دون تجربة", "الادعاء التالي", "درس 2")),
    st.integers(0, 20),
    st.sampled_from(tuple(Claim)),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(steps, max_size=30))
def test_whatever_is_pressed_the_first_vote_on_each_card_stands(course: Course, given_steps: list[str | int]) -> None:
    talk = Conversation(course)
    seen: list[str] = []
    stands: dict[tuple[str, str], tuple[int, str]] = {}
    for step in given_steps:
        if isinstance(step, Claim):
            said = talk.finish(lambda job, claim=step: race(job, claim)) if talk.waiting else ()  # type: ignore[misc]
        elif isinstance(step, int):
            said = talk.take(ButtonPressed(seen[-1 - step % len(seen)])) if seen else ()
        else:
            said = talk.take(TextSent(step))
        blocks = (block for reply in said for block in reply.blocks if isinstance(block, Choices))
        seen += [choice.payload for block in blocks for choice in block.choices]
        for card, vote in talk.store.tries.votes.items():
            assert stands.setdefault(card, vote) == vote
