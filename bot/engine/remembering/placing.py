"""The placement as a conversation: begun, gone on with, and ended with a suggestion and its reasons."""

from bot.engine import asks, presses, series
from bot.engine.bubbles import buttons
from bot.engine.commands import Command
from bot.engine.course_map import Part, go
from bot.engine.moment import Moment
from bot.engine.remembering import placement
from bot.engine.remembering.kept import Remembered
from bot.engine.replies import Block, Bullets, Choice, Heading, Paragraph, Spans
from bot.engine.session import Place, Series, Session
from bot.engine.wording import inline

KIND = "placement"


def taken_up(moment: Moment) -> tuple[Session, bool]:
    """Make the placement the series under way; tells whether it had been begun before."""
    first = _next(moment, (), ())
    session, before = series.taken_up(moment.session, KIND, "", [first] if first else [])
    return (session if before else session.with_(placed=())), before


def gone_on(moment: Moment, after: Series, answered: str) -> Moment:
    """Give the moment with the next item ahead, where there is one."""
    placed = (*moment.session.placed, answered)
    following = _next(moment, placed, after.missed)
    ahead = (following,) if following else ()
    return moment.changed(placed=placed, series=Series(KIND, "", ahead, after.done, after.credit, after.missed))


def result(moment: Moment) -> tuple[Block, ...]:
    """Give the suggestion with what it rests on."""
    words = moment.words
    under_way = moment.session.series
    missed = under_way.missed if under_way else ()
    placed = moment.session.placed
    right = len(placed) - len(missed)
    lesson = placement.suggested(moment.course, placed, missed)
    listed = tuple(_topic(moment, item, right=item not in missed) for item in placed)
    advice = words.say("placement.begin", lesson=inline(lesson.title)) if lesson else words.say("placement.all_known")
    begin = Choice(words.text("button.open_suggested"), go(Place(lesson.slug, Part.OUTLINE))) if lesson else None
    return (
        Heading(words.say("placement.done", done=right, total=len(placed))),
        Bullets(tuple(each for each in listed if each)),
        Paragraph(advice),
        Paragraph(words.say("placement.no_gate")),
        *buttons(begin, presses.command(moment, Command.PROGRESS), presses.command(moment, Command.MAP)),
    )


def _next(moment: Moment, placed: tuple[str, ...], missed: tuple[str, ...]) -> str:
    kept = moment.known.remembered or Remembered()
    found = placement.following(moment.course, kept.difficulties, placed, missed)
    return found.id if found else ""


def _topic(moment: Moment, item_id: str, *, right: bool) -> Spans:
    found = asks.anywhere(moment.course, "item", item_id)
    if found is None:
        return ()
    key = "placement.right" if right else "placement.missed"
    return moment.words.say(key, topic=moment.words.say(f"topic.{found[1].topic}"))
