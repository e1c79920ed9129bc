"""What questions teach their author: each is kept with what became of it, and with what the learner then opened.

Law: only the stops that were offered for the last question count as chosen, and only the first one that is opened.
"""

from bot.engine import course_map
from bot.engine.answering.answerer import Found, of
from bot.engine.answering.index import Hit
from bot.engine.course_map import Part
from bot.engine.effects import Effect, Record, Turn
from bot.engine.moment import Moment
from bot.engine.questions import MOST_LETTERS, MOST_TEXT, MOST_WORDS, ChooseOffered, KeepQuestion, Offered
from bot.engine.session import Place


def kept(moment: Moment, text: str, found: Found, hits: tuple[Hit, ...], band: str) -> tuple[Moment, Effect]:
    """Give the moment that remembers what was offered, and the row of the question."""
    stops = tuple(course_map.key(Place(hit.lesson.slug, Part.SECTION, hit.section.id)) for hit in hits)
    unmatched = tuple(dict.fromkeys(word[:MOST_LETTERS] for word in found.terms.unknown))[:MOST_WORDS]
    row = KeepQuestion(moment.dice.identity(), " ".join(text.split())[:MOST_TEXT], band, stops, unmatched)
    return moment.changed(offered=Offered(row.id, stops) if stops else None), Record((row,))


def beside(moment: Moment, text: str, turn: Turn, band: str) -> Turn:
    """Keep a question that another reading answered, beside its turn."""
    kept_by, note = kept(moment, text, of(moment.course).ask(text), (), band)
    return Turn(turn.session.with_(offered=kept_by.session.offered), (note, *turn.effects))


def opened(moment: Moment, place: Place, turn: Turn) -> Turn:
    """Note, beside a turn that opens a place, that it was chosen from what a question offered."""
    offered = moment.session.offered
    stop = course_map.key(place)
    if offered is None or stop not in offered.stops:
        return turn
    noted = turn.then(Record((ChooseOffered(offered.question, stop),)))
    return Turn(noted.session.with_(offered=None), noted.effects)
