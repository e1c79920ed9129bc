"""Deleting everything of a learner, in two steps: what goes is said, and only a second word makes it go.

Law: a confirmation counts once, in the chat and for the quarter of an hour in which it was asked for.
"""

from datetime import UTC, datetime, timedelta

from bot.engine import asks, presses
from bot.engine.bubbles import buttons, said
from bot.engine.buttons import Op, encode
from bot.engine.commands import Command
from bot.engine.effects import Forget, Turn
from bot.engine.expects import ERASE, Expects
from bot.engine.letters import fold
from bot.engine.moment import Moment
from bot.engine.replies import Bullets, Choice, Heading, Paragraph, Strong

_HOLDS = timedelta(minutes=15)
_LISTED = ("progress", "talk", "runs", "board", "account")


def asked(moment: Moment) -> Turn:
    """Say what goes for good, and ask for the second word."""
    words = moment.words
    token = moment.dice.identity()
    moment = moment.changed(expects=f"{ERASE}{token}:{int(moment.now.timestamp())}")
    erase = Choice(words.text("button.erase_now"), encode(Op.ERASE, token))
    keep = Choice(words.text("button.erase_not"), encode(Op.ERASE, token, "no"))
    return moment.turn(
        *said(
            Heading(words.say("erase.title")),
            Paragraph(words.say("erase.what")),
            Bullets(tuple(words.say(f"erase.{part}") for part in _LISTED)),
            Paragraph(words.say("erase.how", word=Strong(words.text("button.erase_now")))),
            *buttons(erase, keep, presses.command(moment, Command.EXPORT)),
        )
    )


def pressed(moment: Moment, token: str, option: str) -> Turn:
    """Take the second word by its button."""
    if not _holds(moment, token):
        return asks.refused(moment, "erase.outdated")
    return _kept(moment) if option else _gone(moment)


def typed(moment: Moment, text: str) -> Turn | None:
    """Take the second word as it is typed; None when the text is something else."""
    token = moment.session.expects.removeprefix(ERASE).partition(":")[0]
    refusals = {moment.words.text("button.erase_not"), *moment.words.text("erase.refusals").split("، ")}
    if fold(text) in {fold(word) for word in refusals}:
        return _kept(moment)
    if fold(text) != fold(moment.words.text("button.erase_now")):
        return None
    return _gone(moment) if _holds(moment, token) else asks.refused(moment, "erase.outdated")


def _holds(moment: Moment, token: str) -> bool:
    if not moment.session.expects.startswith(ERASE):
        return False
    expected, _, at = moment.session.expects.removeprefix(ERASE).partition(":")
    if expected != token or not token or not at.isdecimal():
        return False
    age = moment.now - datetime.fromtimestamp(int(at), UTC)
    return timedelta(minutes=-1) <= age <= _HOLDS


def _kept(moment: Moment) -> Turn:
    moment = moment.changed(expects=Expects.NOTHING.value)
    return moment.turn(*said(Paragraph(moment.words.say("erase.kept"))))


def _gone(moment: Moment) -> Turn:
    words = moment.words
    backups = moment.known.keeping.backups
    later = (Paragraph(words.say("erase.backups", n=backups)),) if backups else ()
    start = presses.command(moment, Command.START)
    return moment.turn(Forget(), *said(Paragraph(words.say("erase.done")), *later, *buttons(start)))
