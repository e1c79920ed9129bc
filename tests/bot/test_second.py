"""The second opinion: it doubts, it never answers, and whatever becomes of its package the bot goes on."""

import asyncio
import threading
from collections.abc import Sequence

import numpy as np
import pytest

from bot.engine.answering import answerer
from bot.engine.answering.bands import Band
from bot.engine.effects import Say
from bot.engine.events import TextSent
from bot.engine.known import Known
from bot.engine.replies import Reply
from bot.engine.turn import take_turn
from bot.errands import Errands
from bot.second import Index, Second
from bot.testing import Conversation, MemoryStore, StandStillClock
from content.schema import Course

QUESTION = "ليش الحلقات بطيئة؟"


class Words:
    """An embedder of another kind: a text is which of a few words it holds; with `only`, it sees nothing but that."""

    seen = ("الحلقات", "المصفوفات")

    def __init__(self, only: str = "") -> None:
        self.only = only

    def query(self, texts: Sequence[str]) -> np.ndarray:
        return self.passage([self.only or text for text in texts])

    def passage(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([[float(word in text) for word in self.seen] for text in texts])


async def ready(opinion: Second, course: Course) -> None:
    opinion.build(course)
    for _ in range(500):
        if opinion._built is not None or opinion._broken:
            return
        await asyncio.sleep(0.01)


def narrowed(course: Course) -> Course:
    """Give the course with one topic a section that it can be doubted by."""
    return course.model_copy(update={"lessons": course.lessons[:1]})


async def test_it_agrees_where_it_names_the_topic_and_doubts_where_it_does_not(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = narrowed(course)
    monkeypatch.setattr(Index.topics, "__defaults__", (1,))
    assert answerer.of(small).ask(QUESTION).band is Band.ANSWER
    agrees, doubts = Second(Words), Second(lambda: Words(only="المصفوفات السريعة"))
    for opinion in (agrees, doubts):
        await ready(opinion, small)
    assert await agrees.doubts(small, QUESTION) is False
    assert await doubts.doubts(small, QUESTION) is True
    assert await doubts.doubts(small, "كيف أطبخ الرز؟") is False
    for opinion in (agrees, doubts):
        opinion.close()


async def test_nobody_doubts_before_the_index_is_built_or_after_the_package_failed(course: Course) -> None:
    go = threading.Event()

    def slow() -> Words:
        go.wait(5)
        return Words(only="المصفوفات")

    def broken() -> Words:
        message = "no such instruction"
        raise OSError(message)

    waiting, failed = Second(slow), Second(broken)
    waiting.build(course)
    assert await waiting.doubts(course, QUESTION) is False
    go.set()
    await ready(failed, course)
    assert await failed.doubts(course, QUESTION) is False
    assert await failed.doubts(course, QUESTION) is False
    waiting.close()
    failed.close()


async def test_another_course_is_read_anew_before_it_is_doubted(course: Course) -> None:
    opinion = Second(Words)
    await ready(opinion, course)
    other = course.model_copy(update={"hash": "b" * 64})
    assert await opinion.doubts(other, QUESTION) is False
    for _ in range(500):
        if opinion._built is not None and opinion._built[0] == other.hash:
            break
        await asyncio.sleep(0.01)
    assert opinion._built is not None
    assert opinion._built[0] == other.hash
    opinion.close()


def test_a_doubted_answer_is_offered_instead(course: Course) -> None:
    talk = Conversation(course)
    assert "المصدر" in str(talk.take(TextSent(QUESTION)))
    doubted = _taken(talk, doubted=True)
    assert "المصدر" not in str(doubted)
    assert "هل هو أحد هذه المواضيع" in str(doubted)


def _taken(talk: Conversation, *, doubted: bool) -> tuple[Reply, ...]:
    turn = take_turn(talk.session, TextSent(QUESTION), Known(doubted=doubted), talk.course, talk.clock.now(), talk.dice)
    return tuple(effect.reply for effect in turn.effects if isinstance(effect, Say))


async def test_without_a_second_opinion_the_shell_adds_nothing(course: Course) -> None:
    known = Known()
    errands = Errands(MemoryStore(), StandStillClock())
    assert await errands.seen(known, TextSent(QUESTION), course) is known


async def test_a_bot_that_stops_does_not_wait_for_the_index(course: Course) -> None:
    reading, go = threading.Event(), threading.Event()

    class Slow(Words):
        read = 0

        def passage(self, texts: Sequence[str]) -> np.ndarray:
            Slow.read += 1
            reading.set()
            go.wait(5)
            return super().passage(texts)

    opinion = Second(Slow)
    opinion.build(course)
    await asyncio.to_thread(reading.wait, 5)
    opinion.close()
    go.set()
    await asyncio.to_thread(opinion._threads.shutdown)
    assert Slow.read == 1
    assert opinion._built is None
