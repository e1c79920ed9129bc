"""The other words of an answer: asked for after the passage was said, said when they come and still fit.

Law: the passage is never kept waiting for them. They are dropped when the talk went on, and named as a machine's.
"""

from bot.engine.bubbles import said
from bot.engine.effects import AskPhrasing, Turn
from bot.engine.events import Phrased
from bot.engine.moment import Moment
from bot.engine.phrasing import passages, pieces
from bot.engine.replies import Code, Paragraph, Text
from bot.engine.wording import inline
from content.schema import Section, TextBlock

MOST_ASKED = 300
"""Characters of a question that are sent."""


def asked(moment: Moment, text: str, section: Section, turn: Turn) -> Turn:
    """Ask for other words of the section that was just said, where somebody gives them."""
    if not moment.known.phrasing:
        return turn
    admitted = passages(block.text for block in section.blocks if isinstance(block, TextBlock))
    ask = moment.dice.identity()
    with_ask = Turn(turn.session.with_(phrasing=ask), turn.effects)
    return with_ask.then(AskPhrasing(ask, " ".join(text.split())[:MOST_ASKED], admitted))


def came(moment: Moment, event: Phrased) -> Turn:
    """Say the words that came, unless the talk went on."""
    if not event.ask or moment.session.phrasing != event.ask:
        return moment.turn()
    place = moment.session.told
    moment = moment.changed(phrasing="")
    lesson = moment.lesson(place.lesson) if place else None
    section = next((each for each in lesson.sections if place and each.id == place.section), None) if lesson else None
    if not event.sentences or lesson is None or section is None:
        return moment.turn()
    words = moment.words
    source = words.say("answer.source", lesson=inline(lesson.title), section=inline(section.title))
    prose = (
        Paragraph(tuple(Code(piece) if is_code else Text(piece) for piece, is_code in pieces(sentence.text)))
        for sentence in event.sentences
    )
    return moment.turn(*said(Paragraph(words.say("answer.phrased")), *prose, Paragraph(source)))
