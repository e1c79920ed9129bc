"""How an open question is answered: its buttons, or the panel of marks that is edited in place, or how to type.

Law: a panel is said under a slot of its own each time the question is asked, and every press edits the newest one.
"""

from bot.engine import presses
from bot.engine.bubbles import buttons, said
from bot.engine.effects import Ask, Edit, Effect, Say
from bot.engine.expects import Expects
from bot.engine.moment import Moment
from bot.engine.quizzes import items
from bot.engine.replies import Block, Choice, Paragraph, Reply, Spans, Text
from content.schema import Item, NumberAnswer


def asked(moment: Moment, item: Item, ask: Ask, *head: Block) -> tuple[Moment, tuple[Effect, ...]]:
    """Say the head with the ways to answer under it; the next text is read as an answer."""
    moment = moment.changed(expects=Expects.ANSWER.value)
    if not isinstance(item, items.Marked):
        return moment, said(*head, *_ways(moment, item, ask))
    slot = f"item:{moment.dice.identity()}"
    moment = moment.changed(panel=slot)
    return moment, (*said(*head), Say(Reply(_panel(moment, item, ask)), slot))


def marked(moment: Moment, item: items.Marked, ask: Ask, marks: tuple[str, ...]) -> tuple[Moment, Edit]:
    """Keep the marks and show them in the panel."""
    slot = moment.session.panel or f"item:{moment.dice.identity()}"
    moment = moment.changed(marked=marks, panel=slot, expects=Expects.ANSWER.value)
    return moment, Edit(slot, Reply(_panel(moment, item, ask)))


def _ways(moment: Moment, item: Item, ask: Ask) -> tuple[Block, ...]:
    words = moment.words
    listed, choices = items.ask(item, ask.options, presses.seen(ask), moment.session.tried, words)
    how: Spans = () if choices else words.say(f"quiz.how_{item.kind}")
    if isinstance(item, NumberAnswer) and item.unit:
        how = (*how, Text(" "), *words.say("quiz.unit", unit=item.unit))
    helps = _helps(moment, item, ask)
    return (*listed, *((Paragraph(how),) if how else ()), *buttons(*choices), *buttons(*helps, columns=2))


def _panel(moment: Moment, item: items.Marked, ask: Ask) -> tuple[Block, ...]:
    words = moment.words
    so_far, choices, controls = items.panel(item, ask.options, presses.seen(ask), moment.session.marked, words)
    how = Paragraph(words.say(f"quiz.how_{item.kind}"))
    return (how, *so_far, *buttons(*choices), *buttons(*controls, *_helps(moment, item, ask), columns=3))


def _helps(moment: Moment, item: Item, ask: Ask) -> tuple[Choice | None, ...]:
    """Give the buttons of a hint, where one is left, and of not knowing."""
    words = moment.words
    shown = moment.session.hinted
    more = shown < len(item.hints) and not placing(moment)
    hint = presses.answer(words.text("button.hint"), ask.id, presses.mark("hint", shown)) if more else None
    return hint, presses.answer(words.text("button.dont_know"), ask.id, presses.DONT_KNOW)


def placing(moment: Moment) -> bool:
    """Tell whether a placement is under way: one try, no hints."""
    return moment.session.series is not None and moment.session.series.kind == "placement"
