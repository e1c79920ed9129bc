"""A copy of everything that is stored of the learner, as files in the chat.

Law: the copy leaves nothing out but what the store's own rules name (the bytes of earlier copies, leases); who asks
for it is the learner of the chat, whom the platform knows. Where others read along there is none.
"""

import json

from bot.engine import presses
from bot.engine.bubbles import buttons, said
from bot.engine.commands import Command
from bot.engine.effects import Record, Turn
from bot.engine.moment import Moment
from bot.engine.owned import anki
from bot.engine.owned.rows import KeepFile
from bot.engine.replies import Code, File, Paragraph

FORMAT = "tasree-export"
VERSION = 1
JSON_NAME = "tasree-data.json"
CARDS_NAME = "tasree-cards.csv"


def exported(moment: Moment) -> Turn:
    """Give the copy: a JSON document, and the cards for Anki."""
    words = moment.words
    if moment.known.own is None:
        return moment.turn(*said(Paragraph(words.say("export.only_private"))))
    document = {
        "format": FORMAT,
        "version": VERSION,
        "made_at": moment.now.isoformat(),
        "course": moment.course.hash,
        "tables": moment.known.own,
    }
    remembered = moment.known.remembered
    kept = {row.card: row for row in remembered.cards} if remembered else {}
    files = (
        _file(moment, JSON_NAME, "application/json", json.dumps(document, ensure_ascii=False, indent=1)),
        _file(moment, CARDS_NAME, anki.MEDIA, anki.table(moment.course, kept)),
    )
    shown = tuple(File(one.id, one.name, one.media, len(one.data)) for one in files)
    days = moment.known.keeping.days
    return moment.turn(
        Record(files),
        *said(
            Paragraph(words.say("export.here", json=Code(JSON_NAME), csv=Code(CARDS_NAME))),
            *shown,
            Paragraph(words.say("export.kept", n=days)),
            *buttons(presses.command(moment, Command.PRIVACY), presses.command(moment, Command.DELETE), columns=2),
        ),
    )


def _file(moment: Moment, name: str, media: str, text: str) -> KeepFile:
    return KeepFile(moment.dice.identity(), name, media, text.encode("utf-8", "replace"))
