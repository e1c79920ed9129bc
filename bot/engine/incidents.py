"""What is wrong with the installation, said to its admins: once when it began, and once when it is over.

Law: figures and codes only; nothing of a learner, of code, or of a secret passes here.
"""

from bot.engine.bubbles import said
from bot.engine.effects import Turn
from bot.engine.events import IncidentTold
from bot.engine.moment import Moment
from bot.engine.replies import Code, Number, Paragraph, Reply, Spans, Strong, Text
from bot.engine.wording import Figure, Wording


def told(moment: Moment, event: IncidentTold) -> Turn:
    """Tell an admin of an incident; their place in the lessons stays as it was."""
    return moment.turn(*said(*worded(moment.words, event).blocks))


def worded(words: Wording, event: IncidentTold) -> Reply:
    """Word an incident."""
    figures: dict[str, Figure] = {"since": Number(f"{event.since:%Y-%m-%d %H:%M}"), "where": Code(event.where)}
    if event.over_at is not None:
        lasted = _minutes(words, (event.over_at - event.since).total_seconds())
        return Reply((Paragraph(words.say(f"incident.over_{event.trouble}", lasted=lasted, **figures)),))
    began = words.say(f"incident.{event.trouble}", n=event.count, age=_minutes(words, event.age_s), **figures)
    title = (Strong(words.text("incident.title")), Text(" "))
    return Reply((Paragraph((*title, *began)), Paragraph(words.say(f"incident.step_{event.trouble}"))))


def _minutes(words: Wording, seconds: float) -> Spans:
    return words.say("incident.minutes", n=max(0, round(seconds / 60)))
