"""Joining two accounts as a conversation: a code is given here, written there, and confirmed with what it means.

Law: where others read along no code is given, and one that is written there is worth nothing any more. A code that
leads nowhere is counted, also when its button was forged. Nothing is joined without a second word.
"""

from datetime import timedelta

from bot.engine import presses
from bot.engine.bubbles import buttons, said
from bot.engine.buttons import Button, Op, encode
from bot.engine.commands import Command
from bot.engine.effects import Record, TellOther, Turn
from bot.engine.expects import LINK, Expects
from bot.engine.letters import stripped
from bot.engine.linking import codes
from bot.engine.linking.rows import (
    FORGIVEN,
    GUESSES,
    LIVES,
    DropLink,
    FoundLink,
    JoinLearners,
    Linking,
    MissLink,
    OfferLink,
    joined_key,
)
from bot.engine.moment import Moment
from bot.engine.replies import Block, Bullets, Choice, Code, Heading, Paragraph, Spans, Text

_YES, _NO, _DROP = "yes", "no", "drop"
_UNITED = ("progress", "wishes", "owned", "for_good")
_MINUTE = timedelta(minutes=1)


def asked(moment: Moment, argument: str = "") -> Turn:
    """Give a code, or take one that stands behind the command."""
    if stripped(argument).strip():
        return _entered(moment, codes.read(argument))
    known = _known(moment)
    if not known.private:
        return moment.turn(*said(Paragraph(moment.words.say("link.only_private"))))
    words = moment.words
    code = codes.made(moment.dice.identity())
    moment = moment.changed(expects=LINK)
    drop = Choice(words.text("button.link_drop"), encode(Op.LINK, option=_DROP))
    return moment.turn(
        Record((OfferLink(code, moment.now),)),
        *said(
            Heading(words.say("link.title")),
            Paragraph(words.say("link.code", code=Code(codes.shown(code)))),
            Paragraph(words.say("link.how", command=Code(f"/link {codes.shown(code)}"), n=LIVES // _MINUTE)),
            Paragraph(words.say("link.secret")),
            Paragraph(words.say("link.other_way")),
            *_linked(moment, known),
            *buttons(drop),
        ),
    )


def typed(moment: Moment, text: str) -> Turn | None:
    """Take a text that is a code; None when it is something else."""
    code = codes.read(text)
    return _entered(moment, code) if code else None


def pressed(moment: Moment, button: Button) -> Turn:
    """Take the second word, or take a code back."""
    words = moment.words
    if button.option == _DROP:
        moment = moment.changed(expects=Expects.NOTHING.value)
        return moment.turn(Record((DropLink(),)), *said(Paragraph(words.say("link.dropped"))))
    if button.option == _NO:
        return moment.turn(*said(Paragraph(words.say("link.refused"))))
    code = codes.read(button.ref)
    fault = _fault(moment, code)
    found = _known(moment).found
    if fault is not None or found is None:
        return fault or moment.turn()
    if button.option != _YES:
        return _confirm(moment, code, found)
    topics = {item.id: item.topic.value for lesson in moment.course.lessons for item in lesson.check}
    moment = moment.changed(expects=Expects.NOTHING.value)
    return moment.turn(
        Record((JoinLearners(code, moment.now, topics),)),
        TellOther(found.chat, found.platform, joined_key(found.at)),
        *said(
            Heading(words.say("link.done")),
            Paragraph(words.say("link.done_here", platform=_named(moment, found.platform))),
            *buttons(*(presses.command(moment, each) for each in (Command.PROGRESS, Command.REMIND)), columns=2),
        ),
    )


def joined(moment: Moment) -> Turn:
    """Tell the one who asked for the code that it was used."""
    words = moment.words
    moment = moment.changed(expects=Expects.NOTHING.value)
    told = Paragraph(words.say("link.done_there"))
    choices = buttons(presses.command(moment, Command.DELETE))
    return moment.turn(Record((DropLink(),)), *said(told, *_linked(moment, _known(moment)), *choices))


def _entered(moment: Moment, code: str) -> Turn:
    fault = _fault(moment, code)
    found = _known(moment).found
    if fault is not None or found is None:
        return fault or moment.turn()
    return _confirm(moment, code, found)


def _fault(moment: Moment, code: str) -> Turn | None:
    """Say why this code does nothing here; None when it may be used."""
    words, known = moment.words, _known(moment)
    if not known.private:
        burnt = (Record((DropLink(code),)),) if code else ()
        return moment.turn(*burnt, *said(Paragraph(words.say("link.seen" if code else "link.only_private"))))
    if known.since is not None and known.missed >= GUESSES and moment.now - known.since < FORGIVEN:
        left = -((moment.now - known.since - FORGIVEN) // _MINUTE)
        return moment.turn(*said(Paragraph(words.say("link.too_many", n=max(left, 1)))))
    if not code:
        return moment.turn(*said(Paragraph(words.say("link.not_a_code"))))
    if known.found is None or moment.now - known.found.at >= LIVES:
        guessed = (Record((MissLink(moment.now),)),) if known.found is None else ()
        return moment.turn(*guessed, *said(Paragraph(words.say("link.unknown"))))
    if known.found.mine:
        return moment.turn(*said(Paragraph(words.say("link.same"))))
    return None


def _confirm(moment: Moment, code: str, found: FoundLink) -> Turn:
    """Say what joining means, and ask for the second word."""
    words = moment.words
    minutes = max((moment.now - found.at) // _MINUTE, 0)
    join = Choice(words.text("button.link_yes"), encode(Op.LINK, code, _YES))
    keep = Choice(words.text("button.link_no"), encode(Op.LINK, code, _NO))
    moment = moment.changed(expects=LINK)
    return moment.turn(
        *said(
            Heading(words.say("link.confirm")),
            Paragraph(words.say("link.whose", platform=_named(moment, found.platform), n=minutes)),
            Bullets(tuple(words.say(f"link.{part}") for part in _UNITED)),
            Paragraph(words.say("link.only_if")),
            *buttons(join, keep),
        )
    )


def _linked(moment: Moment, known: Linking) -> tuple[Block, ...]:
    """Name the platforms whose accounts are joined already."""
    if len(known.platforms) <= 1:
        return ()
    names: Spans = tuple(
        span
        for at, each in enumerate(known.platforms)
        for span in (*((Text("، "),) if at else ()), *_named(moment, each))
    )
    return (Paragraph(moment.words.say("link.linked", platforms=names)),)


def _named(moment: Moment, platform: str) -> Spans:
    key = f"platform.{platform}"
    return moment.words.say(key) if moment.words.has(key) else (Code(platform),)


def _known(moment: Moment) -> Linking:
    return moment.known.linking or Linking()
