"""An update of the Bot API as what happened, pure: who it is from, where the answer goes, and the event.

Law: everything in an update is forgeable or strange but its ids. In a group only what is addressed to the bot is heard:
a command, a mention, an answer to one of its replies. Nothing raises for what somebody sent.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from telegram import Message, MessageEntity, Update, User

from bot.engine import commands
from bot.engine.commands import Command
from bot.engine.events import ButtonPressed, Entity, Event, OddSent, TextSent

FILE_LIMIT = 20 * 1024 * 1024
"""Bytes that a bot can download; the platform's own limit."""

_NAME = 200
"""Characters of a person's name that are kept."""
_KINDS = {
    MessageEntity.PRE: "pre",
    MessageEntity.CODE: "code",
    MessageEntity.BOLD: "bold",
    MessageEntity.ITALIC: "italic",
}
_ODD = {
    "photo": ("photo", "live_photo"),
    "voice": ("voice", "audio"),
    "video": ("video", "video_note", "animation"),
    "sticker": ("sticker", "dice"),
    "location": ("location", "venue"),
    "other": ("contact", "poll", "story", "game", "invoice", "paid_media", "checklist", "giveaway"),
}


@dataclass(frozen=True, slots=True)
class Me:
    """The bot itself: its id, and its name without the at sign."""

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class Who:
    """A learner in a place: `external` names the chat of ours, `account` the person, `address` where answers go.

    In a group `room` names the chat of ours that is the group's own, `name` is how the person is called there.
    """

    external: str
    account: str
    address: str
    room: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """An event as it stands; `answers` names what was written, `joins` says that a long text may be one of several."""

    who: Who
    event: Event
    answers: str
    edited: bool = False
    joins: bool = False


@dataclass(frozen=True, slots=True)
class Upload:
    """A file to be downloaded first; `measure` when its caption, or the command before it, asks for its time."""

    who: Who
    file: str
    name: str
    answers: str
    measure: bool = False
    edited: bool = False


@dataclass(frozen=True, slots=True)
class Pressed:
    """A button; `query` is to be acknowledged first, `under` is the id of the part that it stands under."""

    who: Who
    query: str
    event: ButtonPressed
    under: str


@dataclass(frozen=True, slots=True)
class Moved:
    """A group became a supergroup: another address."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Standing:
    """The bot was blocked or removed (`silent`), or let in again."""

    address: str
    silent: bool


@dataclass(frozen=True, slots=True)
class Nothing:
    """Nothing for us; `why` is for the log, and holds nothing that anybody wrote."""

    why: str


Heard = Said | Upload | Pressed | Moved | Standing | Nothing


def parse(update: Update, me: Me) -> Heard:
    """Read one update."""
    if update.callback_query is not None:
        return _pressed(update)
    if update.my_chat_member is not None:
        change = update.my_chat_member
        gone = change.new_chat_member.status in {"kicked", "left"}
        return Standing(str(change.chat.id), gone)
    message = update.message or update.edited_message
    if message is None:
        return Nothing("no message of a learner")
    if message.migrate_to_chat_id is not None:
        return Moved(str(message.chat.id), str(message.migrate_to_chat_id))
    if message.from_user is None or message.from_user.is_bot or message.chat.type == "channel":
        return Nothing("not from a person")
    if message.migrate_from_chat_id is not None or message.sender_chat is not None:
        return Nothing("not from a person")
    return _heard(message, me, edited=update.message is None)


def root(address: str) -> str:
    """Give the chat of an address, without its topic."""
    return address.partition("/")[0]


def is_group(address: str) -> bool:
    """Tell whether many read along: the platform's ids of groups are below zero."""
    return address.startswith("-")


def rests(address: str) -> float:
    """Give how many times as long a reply stays between edits: a group takes few calls a minute, of all of them."""
    return 2.0 if is_group(address) else 1.0


def _who(message: Message, person: User | None) -> Who:
    chat, account = message.chat, person.id if person else 0
    if chat.type == "private":
        return Who(str(chat.id), str(account), str(chat.id))
    topic = str(message.message_thread_id or "") if message.is_topic_message else ""
    address = f"{chat.id}/{topic}" if topic else str(chat.id)
    name = person.full_name if person else ""
    return Who(f"{chat.id}/{account}", str(account), address, f"{chat.id}/#{topic}", name[:_NAME])


def _pressed(update: Update) -> Heard:
    query = update.callback_query
    if query is None or not isinstance(query.message, Message) or query.data is None:
        return Nothing("a button under what is gone") if query is None else _orphan(update)
    who = _who(query.message, query.from_user)
    return Pressed(who, query.id, ButtonPressed(query.data[:200]), str(query.message.message_id))


def _orphan(update: Update) -> Heard:
    """Take a press under a part too old to be told: its payload still says all."""
    query = update.callback_query
    if query is None or query.message is None or query.data is None:
        return Nothing("a button without a payload")
    chat = query.message.chat
    person = query.from_user.id
    group = chat.type != "private"
    name = query.from_user.full_name[:_NAME]
    who = Who(f"{chat.id}/{person}", str(person), str(chat.id), f"{chat.id}/#", name)
    who = who if group else Who(str(chat.id), str(person), str(chat.id))
    return Pressed(who, query.id, ButtonPressed(query.data[:200]), str(query.message.message_id))


def _heard(message: Message, me: Me, *, edited: bool) -> Heard:
    who = _who(message, message.from_user)
    answers = str(message.message_id)
    text, cut, to_us = _addressed(message, me)
    group = message.chat.type != "private"
    if group and not (to_us or _is_answer_to(message, me)):
        return Nothing("said in a group, and not to the bot")
    quoted = _quoted(message, me)
    asked = commands.parse(text) if text else None
    if quoted is not None and asked is not None and asked.command in {Command.RUN, Command.TIME}:
        return _by_answer(who, quoted, answers, asked.command)
    if message.document is not None:
        measure = commands.asks_for_time(message.caption or "")
        return _upload(who, message, answers, measure=measure, edited=edited)
    odd = next((kind for kind, names in _ODD.items() if any(getattr(message, name, None) for name in names)), None)
    if odd is not None:
        return Said(who, OddSent(odd), answers) if not edited else Nothing("an edit of what cannot be read")
    if message.text is None:
        return Nothing("a notice of the platform")
    said = TextSent(text, _marks(message.entities, -cut))
    return Said(who, said, answers, edited=edited, joins=not group and not text.startswith("/"))


def _addressed(message: Message, me: Me) -> tuple[str, int, bool]:
    """Give the text without the bot's name at an end of it, how much was cut before it, and whether it is for us."""
    text = message.text or message.caption or ""
    entities = tuple(message.entities or message.caption_entities or ())
    name = f"@{me.name}".lower()
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    if first.startswith("/"):
        return text, 0, "@" not in first or first.lower().endswith(name)
    if any(one.type == MessageEntity.TEXT_MENTION and one.user and one.user.id == me.id for one in entities):
        return text, 0, True
    if name not in text.lower():
        return text, 0, False
    if text.lower().startswith(name):
        kept = text[len(name) :].lstrip()
        return kept, len(text) - len(kept), True
    if text.lower().rstrip().endswith(name):
        return text.rstrip()[: -len(name)].rstrip(), 0, True
    return text, 0, True


def _marks(entities: Sequence[MessageEntity], shift: int) -> tuple[Entity, ...]:
    """Give the engine's marks; `shift` units were put before them, or taken off."""
    return tuple(
        Entity(_KINDS[one.type], one.offset + shift, one.length, one.language or "")
        for one in entities
        if one.type in _KINDS and one.offset + shift >= 0
    )


def _is_answer_to(message: Message, me: Me) -> bool:
    other = message.reply_to_message
    return other is not None and other.from_user is not None and other.from_user.id == me.id


def _quoted(message: Message, me: Me) -> Message | None:
    """Give what somebody else wrote, or the learner before, and is answered by this."""
    other = message.reply_to_message
    return None if other is None or _is_answer_to(message, me) else other


def _by_answer(who: Who, quoted: Message, answers: str, command: Command) -> Heard:
    if quoted.document is not None:
        return _upload(who, quoted, answers, measure=command is Command.TIME, edited=False)
    code = quoted.text or quoted.caption or ""
    word = "قياس" if command is Command.TIME else "تشغيل"
    marks = tuple(quoted.entities or quoted.caption_entities or ())
    if any(one.type == MessageEntity.PRE for one in marks):
        return Said(who, TextSent(f"{word}\n{code}", _marks(marks, len(word) + 1)), answers)
    fenced = code if "```" in code or "~~~" in code else f"```python\n{code}\n```"
    return Said(who, TextSent(f"{word}\n{fenced}"), answers)


def _upload(who: Who, message: Message, answers: str, *, measure: bool, edited: bool) -> Heard:
    document = message.document
    if document is None:
        return Nothing("no file")
    if (document.file_size or 0) > FILE_LIMIT:
        return Said(who, OddSent("large_file"), answers)
    name = (document.file_name or "file")[:200]
    return Upload(who, document.file_id, name, answers, measure=measure, edited=edited)
