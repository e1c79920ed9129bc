"""A learner's own attempts at exercises: what came of each, how fast it was, and when.

Law: what is shown was kept when the run ended; nothing here is computed anew.
"""

from datetime import timedelta

from bot.engine import presses, tasks
from bot.engine.bubbles import buttons, said
from bot.engine.commands import Command
from bot.engine.effects import Turn
from bot.engine.figures import within
from bot.engine.moment import Moment
from bot.engine.replies import Bullets, Code, Heading, Number, Paragraph, Spans, Text
from bot.engine.tries import Kept
from bot.engine.wording import inline

_MOST_BUTTONS = 3


def listed(moment: Moment) -> Turn:
    """List the last attempts, the newest first."""
    words = moment.words
    kept = moment.known.tries.recent
    if not kept:
        lesson = moment.here()
        task = lesson.exercises[0] if lesson else None
        begin = presses.exercise(moment, lesson, task) if lesson and task else None
        none = Paragraph(words.say("attempts.none"))
        return moment.turn(*said(none, *buttons(begin, presses.command(moment, Command.MAP))))
    found = dict.fromkeys(each.attempt.exercise for each in kept)
    again = [presses.exercise(moment, *pair) for each in found if (pair := tasks.find(moment, each))]
    return moment.turn(
        *said(
            Heading(words.say("attempts.title")),
            Bullets(tuple(_line(moment, each) for each in kept)),
            *buttons(*again[:_MOST_BUTTONS], presses.command(moment, Command.BOARD)),
        )
    )


def _line(moment: Moment, kept: Kept) -> Spans:
    words, attempt = moment.words, kept.attempt
    found = tasks.find(moment, attempt.exercise)
    title: Spans = inline(found[1].title) if found else (Code(attempt.exercise),)
    key = f"attempt.{attempt.outcome}"
    outcome = words.say(key if words.has(key) else "attempt.failed")
    figure: Spans = ()
    if attempt.ratio > 0:
        shown = Number(f"{within(attempt.ratio, attempt.low, attempt.high)}×")
        clock = words.say("attempt.confirmed" if attempt.confirmed else "attempt.not_confirmed")
        figure = (Text("، "), *words.say("attempt.ratio", ratio=shown), Text(" "), *clock)
    return (*title, Text(": "), *outcome, *figure, Text("، "), *_ago(moment, moment.now - kept.at))


def _ago(moment: Moment, passed: timedelta) -> Spans:
    """Word how long ago something was; a clock that was set back counts as now."""
    words = moment.words
    minutes = max(int(passed.total_seconds()) // 60, 0)
    if minutes < 60:  # noqa: PLR2004 - an hour
        return words.say("ago.minutes", n=minutes)
    hours = minutes // 60
    return words.say("ago.hours", n=hours) if hours < 48 else words.say("ago.days", n=hours // 24)  # noqa: PLR2004 - two days
