"""The check as a learner meets it: typed words for its buttons, breaks in the middle, other series beside it."""

import pytest

from bot.engine.events import ButtonPressed, CodeSent, TextSent
from bot.engine.replies import Choices, Paragraph, Reply
from bot.testing import Conversation


def prose(said: tuple[Reply, ...]) -> str:
    blocks = (block for reply in said for block in reply.blocks if isinstance(block, Paragraph))
    return " ".join("".join(span.text for span in block.spans) for block in blocks)


def press(talk: Conversation, said: tuple[Reply, ...], label: str) -> tuple[Reply, ...]:
    blocks = [block for reply in said for block in reply.blocks if isinstance(block, Choices)]
    return talk.take(ButtonPressed(next(c.payload for block in blocks for c in block.choices if c.label == label)))


@pytest.mark.parametrize("words", ["لا أعرف", "لا ادري", "مش عارف", "I don't know"])
def test_not_knowing_can_be_typed_and_costs_nothing(talk: Conversation, words: str) -> None:
    talk.take(TextSent("اختبار"))
    assert "المصفوفة" in prose(talk.take(TextSent(words)))
    assert [(ask.answer, ask.tries) for ask in talk.store.asks.values() if ask.closed] == [("_skip", 0)]
    assert talk.session.series is not None
    assert (talk.session.series.done, talk.session.series.missed) == (1, ("item-choice",))


def test_a_hint_can_be_typed(talk: Conversation) -> None:
    talk.take(TextSent("اختبار"))
    assert "التلميح الأول" in prose(talk.take(TextSent("تلميح")))
    assert "التلميح الثاني" in prose(talk.take(TextSent("hint")))
    assert "انتهت التلميحات" in prose(talk.take(TextSent("تلميح")))


def test_credit_is_whole_alone_and_half_with_help(talk: Conversation) -> None:
    talk.take(TextSent("اختبار"))
    talk.take(TextSent("تلميح"))
    talk.take(TextSent("المصفوفة"))
    talk.take(TextSent("[2 4 6]"))
    closed = [talk.store.credits[ask.id] for ask in talk.store.asks.values() if ask.closed]
    assert closed == [0.5, 1.0]


def test_a_check_left_for_cards_goes_on_where_it_was(talk: Conversation) -> None:
    talk.take(TextSent("اختبار"))
    talk.take(TextSent("المصفوفة"))
    talk.take(TextSent("بطاقات"))
    said = talk.take(TextSent("اختبار"))
    assert "من حيث توقف" in prose(said)
    assert talk.session.series is not None
    assert (talk.session.series.kind, talk.session.series.done) == ("check", 1)
    assert [each.kind for each in talk.session.aside] == ["cards"]


def test_reading_in_the_middle_of_a_check_keeps_its_buttons_alive(talk: Conversation) -> None:
    question = talk.take(TextSent("اختبار"))
    talk.take(TextSent("التالي"))
    talk.take(TextSent("التالي"))
    assert "صحيح" in prose(press(talk, question, "المصفوفة"))


def test_code_sent_in_the_middle_of_a_check_is_run_and_not_graded(talk: Conversation) -> None:
    talk.take(TextSent("اختبار"))
    talk.take(TextSent("المصفوفة"))
    talk.take(TextSent("```\nprint(1)\n```"))
    talk.take(CodeSent("print(2)"))
    assert [job.source for job in talk.waiting] == ["print(1)", "print(2)"]
    assert talk.session.series is not None
    assert (talk.session.series.done, talk.session.tried) == (1, ())


def test_a_number_answers_while_a_question_is_open_and_jumps_otherwise(talk: Conversation) -> None:
    talk.take(TextSent("درس 1"))
    talk.take(TextSent("2"))
    assert talk.session.place is not None
    assert talk.session.place.part == "idea"
    talk.take(TextSent("اختبار"))
    talk.take(TextSent("2"))
    assert talk.session.series is not None
    assert talk.session.series.done == 1


def test_the_same_wrong_answer_typed_twice_counts_once(talk: Conversation) -> None:
    talk.take(TextSent("اختبار"))
    talk.take(TextSent("المصفوفة"))
    talk.take(TextSent("[9 9 9]"))
    talk.take(TextSent("[9 9 9]"))
    assert [ask.tries for ask in talk.store.asks.values() if not ask.closed] == [1]
