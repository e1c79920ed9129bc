"""What came from Discord as what happened, pure: who it is from, where the answer goes, and the event.

Law: everything but ids is forgeable or strange. In a server only what is addressed to the bot is heard: a mention, an
answer to one of its replies, a command. What came is written down as JSON and read back as it was; nothing raises for
what somebody sent.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import discord

from bot.adapters.discord import places
from bot.adapters.discord.places import Who
from bot.engine import commands
from bot.engine.events import ButtonPressed, CodeSent, Event, FileSent, OddSent, TextSent

FILE_LIMIT = 10 * 1024 * 1024
"""Bytes of a file that are taken; what is larger is refused by its size, before it is downloaded."""

NAME = 200
"""Characters of a person's name that are kept."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file to be downloaded first: its address at the platform, which expires after a day."""

    url: str
    name: str
    measure: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """What somebody said or did; `answers` is the id of what was written, empty for a press or a command.

    `by` is how the person is called in a server, `admin` whether they may take away what others write in the channel,
    `gpu` how many runs on the GPU a day the server's owner gives them, None for any number.
    """

    who: Who
    key: str
    text: str = ""
    code: str | None = None
    name: str = "code.py"
    measure: bool = False
    press: str | None = None
    odd: str = ""
    uploads: tuple[Upload, ...] = ()
    answers: str = ""
    edited: bool = False
    by: str = ""
    admin: bool = False
    gpu: int | None = None

    def event(self) -> Event:
        """Give the event of what needs no download."""
        if self.press is not None:
            return ButtonPressed(self.press)
        if self.odd:
            return OddSent(self.odd)
        return TextSent(self.text) if self.code is None else CodeSent(self.code, self.name, self.measure)


def to_json(heard: Heard) -> str:
    """Write down what was heard."""
    return json.dumps(asdict(heard), ensure_ascii=True)


def from_json(text: str) -> Heard:
    """Read back what `to_json` wrote.

    Raises:
        ValueError: the text is damaged, or of another version of ours.
    """
    try:
        fields = json.loads(text)
        who = Who(**fields.pop("who"))
        uploads = tuple(Upload(**one) for one in fields.pop("uploads"))
        return Heard(who=who, uploads=uploads, **fields)
    except (KeyError, TypeError, AttributeError) as error:
        message = f"not what was written down: {error}"
        raise ValueError(message) from error


def of_message(message: discord.Message, me: int, *, edited: bool = False, asked: bool = False) -> Heard | None:
    """Read what somebody wrote; None where it is not for us. `asked`: where it stands, every text is for us."""
    if message.author.bot or message.webhook_id is not None or message.type not in _TALK:
        return None
    text, to_us = _addressed(message, me)
    direct = message.guild is None
    if not direct and not asked and not to_us and not _answers_us(message, me):
        return None
    who = (places.private if direct else places.public)(message.channel.id, message.author.id)
    version = f".{int(message.edited_at.timestamp())}" if edited and message.edited_at else ""
    key = f"dc:m{message.id}{version}"
    rights = getattr(message.author, "guild_permissions", None)
    admin = bool(rights and (rights.administrator or rights.manage_messages))
    by = message.author.display_name[:NAME]
    said = Heard(who, key, text, answers=str(message.id), edited=edited, by=by, admin=admin)
    if message.attachments:
        return _with_files(said, message, measure=commands.asks_for_time(text))
    if message.stickers or getattr(message, "poll", None) is not None:
        return Heard(who, key, odd="sticker" if message.stickers else "other", answers=str(message.id))
    return said


def of_code(who: Who, key: str, message: discord.Message, *, measure: bool) -> Heard:
    """Read the code in what anybody wrote, at the wish of the one who asks."""
    if message.attachments:
        return _with_files(Heard(who, key), message, measure=measure)
    word = "قياس" if measure else "تشغيل"
    text = message.content
    fenced = text if "```" in text or "~~~" in text else f"```python\n{text}\n```"
    return Heard(who, key, f"{word}\n{fenced}")


def with_file(heard: Heard, file: Mapping[str, Any]) -> Heard:
    """Read a file as the platform describes one: its size, its name, and where it lies."""
    if int(file.get("size") or 0) > FILE_LIMIT:
        return replace(heard, odd="large_file")
    return replace(heard, uploads=(Upload(str(file.get("url") or ""), str(file.get("filename") or "")[:200]),))


def of_upload(event: bytes, upload: Upload) -> Event:
    """Give the event of a file that was downloaded."""
    if upload.measure and upload.name.lower().endswith(".py"):
        try:
            return CodeSent(event.decode(), upload.name, measure=True)
        except UnicodeDecodeError:
            pass
    return FileSent(upload.name, event)


_TALK = {discord.MessageType.default, discord.MessageType.reply}


def _addressed(message: discord.Message, me: int) -> tuple[str, bool]:
    """Give the text without the bot's mention at an end of it, and whether it is for us."""
    text = message.content
    for name in (f"<@{me}>", f"<@!{me}>"):
        if text.startswith(name):
            return text[len(name) :].lstrip(), True
        if text.rstrip().endswith(name):
            return text.rstrip()[: -len(name)].rstrip(), True
        if name in text:
            return text, True
    return text, False


def _answers_us(message: discord.Message, me: int) -> bool:
    other = message.reference.resolved if message.reference else None
    return isinstance(other, discord.Message) and other.author.id == me


def _with_files(said: Heard, message: discord.Message, *, measure: bool) -> Heard:
    first = message.attachments[0]
    if first.size > FILE_LIMIT:
        return Heard(said.who, said.key, odd="large_file", answers=said.answers)
    kind = (first.content_type or "").partition("/")[0]
    if kind in {"image", "video", "audio"} and not first.filename.lower().endswith((".py", ".ipynb", ".txt")):
        odd = {"image": "photo", "video": "video", "audio": "voice"}[kind]
        return Heard(said.who, said.key, odd=odd, answers=said.answers)
    upload = Upload(first.url, first.filename[:200], measure)
    return Heard(said.who, said.key, uploads=(upload,), answers=said.answers, edited=said.edited)
