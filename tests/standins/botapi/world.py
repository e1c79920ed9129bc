"""A small Telegram: chats, what stands in them, updates that wait, presses that want an answer; and what went wrong.

Law: `complaints` holds what the real platform would let pass and a person would mind: links to strangers, formatting
lost, a press that was never acknowledged. A test ends with none.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from botapi import oracle, rules
from botapi.rules import Refusal, bad

ACKNOWLEDGE_S = 15.0
_STRANGERS = {"url", "mention", "hashtag", "cashtag", "bot_command", "email", "phone_number", "bank_card"}


class Fault(StrEnum):
    """What can go wrong with a call."""

    SILENT_AFTER = "silent_after"
    """done, and the answer never comes"""
    SILENT_BEFORE = "silent_before"
    RESET_AFTER = "reset_after"
    """done, and the connection breaks"""
    RESET_BEFORE = "reset_before"
    GATEWAY = "gateway"
    """502, not done"""
    GATEWAY_AFTER = "gateway_after"
    TOO_MANY = "too_many"
    """429 with a second to wait"""


DONE = frozenset({Fault.SILENT_AFTER, Fault.RESET_AFTER, Fault.GATEWAY_AFTER})
Trouble = Callable[[str, dict[str, Any]], Fault | None]


@dataclass(slots=True)
class Flood:
    """Calls within seconds that a chat, a group and all together may take; None of them counts without this."""

    chat: tuple[int, float] = (3, 3.0)
    group: tuple[int, float] = (20, 60.0)
    overall: tuple[int, float] = (30, 1.0)
    times: dict[str, deque[float]] = field(default_factory=dict)
    breaches: int = 0

    def count(self, chat: int, now: float) -> int:
        """Count a call; give the seconds to wait when it is one too many."""
        windows = ((f"{chat}", self.group if chat < 0 else self.chat), ("", self.overall))
        for name, (most, seconds) in windows:
            times = self.times.setdefault(name, deque())
            while times and times[0] <= now - seconds:
                times.popleft()
            if len(times) >= most:
                self.breaches += 1
                return max(1, round(seconds))
        for name, _ in windows:
            self.times[name].append(now)
        return 0


@dataclass(slots=True)
class Note:
    """What stands in a chat; `by` is 0 for the bot. `versions` are all texts that it had, the newest last."""

    id: int
    chat: int
    by: int
    kind: str
    text: str
    marks: tuple[oracle.Mark, ...] = ()
    keyboard: list[list[dict[str, str]]] = field(default_factory=list)
    data: bytes = b""
    name: str = ""
    thread: int = 0
    answers: int = 0
    versions: list[str] = field(default_factory=list)
    keyboards: list[list[list[dict[str, str]]]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Query:
    """A press: when, whether it was acknowledged, and with which words."""

    at: float
    answered: bool = False
    text: str = ""


class World:
    """Everything of the platform but its HTTP."""

    def __init__(
        self, token: str = "1234567:" + "A" * 35, name: str = "tasree_bot", flood: Flood | None = None
    ) -> None:
        self.token = token
        self.me = {"id": int(token.partition(":")[0]), "is_bot": True, "first_name": "Tasree", "username": name}
        self.flood = flood
        self.trouble: Trouble = lambda _, __: None
        self.notes: dict[tuple[int, int], Note] = {}
        self.deleted: list[Note] = []
        self.queries: dict[str, Query] = {}
        self.blocked: set[int] = set()
        self.admins: set[int] = set()
        self.names: dict[int, str] = {}
        self.migrated: dict[int, int] = {}
        self.closed: set[tuple[int, int]] = set()
        """Topics that were deleted."""
        self.complaints: list[str] = []
        self.refusals: list[str] = []
        self.calls: list[tuple[float, str, int]] = []
        self.updates: list[dict[str, Any]] = []
        self.confirmed: list[dict[str, Any]] = []
        self.told: dict[str, Any] = {"commands": {}}
        self.webhook: dict[str, Any] = {}
        self.news = asyncio.Event()
        self._last_id = 100
        self._last_update = 5000

    def fresh(self) -> int:
        """Give the next id of something in a chat; ids rise over all chats of a bot."""
        self._last_id += 1
        return self._last_id

    def update(self, **what: object) -> int:
        """Put an update into the queue."""
        self._last_update += 1
        self.updates.append({"update_id": self._last_update, **what})
        self.news.set()
        return self._last_update

    def becomes_supergroup(self, group: int, to: int, member: int) -> None:
        """Give a group its new number, and tell of it as the platform does."""
        self.migrated[group] = to
        self.update(message={"message_id": 9, "date": 1, "chat": {"id": group, "type": "group"},
                             "from": {"id": member, "is_bot": False, "first_name": "x"},
                             "migrate_to_chat_id": to})  # fmt: skip

    def deliver_again(self, count: int = 1) -> None:
        """Deliver the last updates a second time, though they were confirmed."""
        self.updates = [*self.confirmed[-count:], *self.updates]
        self.news.set()

    def taken(self, offset: int, allowed: list[str] | None) -> list[dict[str, Any]]:
        """Confirm what lies before an offset, and give the rest."""
        done = [one for one in self.updates if offset and one["update_id"] < offset]
        self.confirmed += [one for one in done if one not in self.confirmed]
        self.updates = [one for one in self.updates if one not in done]
        wanted = [one for one in self.updates if allowed is None or set(one) & set(allowed)]
        if not wanted:
            self.news.clear()
        return wanted[:100]

    def of_bot(self, chat: int) -> list[Note]:
        """Give what the bot shows in a chat, in order."""
        return [note for (where, _), note in sorted(self.notes.items()) if where == chat and note.by == 0]

    def unanswered(self) -> list[str]:
        """Give the presses that nobody acknowledged."""
        return [name for name, query in self.queries.items() if not query.answered]

    # --- calls --------------------------------------------------------------------------------------------------------

    def call(self, method: str, call: dict[str, Any], now: float) -> Any:  # noqa: ANN401 - as many shapes as methods
        """Do one call.

        Raises:
            Refusal: an answer without success.
        """
        chat = call.get("chat_id", 0)
        self.calls.append((now, method, chat))
        if chat:
            self._reachable(chat)
        if self.flood is not None and method in rules.FLOODED:
            wait = self.flood.count(chat, now)
            if wait:
                raise Refusal(429, f"Too Many Requests: retry after {wait}", retry_after=wait)
        match method:
            case "sendMessage" | "sendPhoto" | "sendDocument":
                return self._sent(method, call, now)
            case "editMessageText" | "editMessageMedia":
                return self._edited(method, call, now)
            case "deleteMessage":
                return self._removed(call)
            case "answerCallbackQuery":
                return self._acknowledged(call, now)
            case _:
                return self._told(method, call)

    def _reachable(self, chat: int) -> None:
        if chat in self.migrated:
            to = self.migrated[chat]
            raise Refusal(400, "Bad Request: group chat was upgraded to a supergroup chat", migrate_to=to)
        if chat in self.blocked:
            raise Refusal(403, "Forbidden: bot was blocked by the user")

    def _content(self, method: str, call: dict[str, Any]) -> Note:
        field_name, limit = ("text", rules.TEXT) if "text" in call else ("caption", rules.CAPTION)
        parsed = rules.text(call, field_name, limit)
        note = Note(0, call["chat_id"], 0, "text", parsed.text, parsed.marks, rules.keyboard(call))
        what = call.get("media", call)
        for kind in ("photo", "document"):
            if kind in call or (isinstance(what, dict) and what.get("type") == kind):
                note.kind = kind
                note.data, note.name = self._file(call, what.get("media") or call[kind])
        if note.kind == "photo":
            rules.photo(note.data)
        if note.kind == "document" and not note.data:
            raise bad("file must be non-empty")
        self._complain(note)
        return note

    @staticmethod
    def _file(call: dict[str, Any], given: Any) -> tuple[bytes, str]:  # noqa: ANN401 - bytes or a name of an attachment
        if isinstance(given, str) and given.startswith("attach://"):
            given = call.get(given.removeprefix("attach://"))
        if not isinstance(given, tuple):
            raise bad("wrong file identifier/HTTP URL specified")
        name, data = given
        return data, name

    def _complain(self, note: Note) -> None:
        if len(note.marks) > rules.ENTITIES:
            self.complaints.append(f"formatting is lost: {len(note.marks)} entities in {note.text[:80]!r}")
        units = note.text.encode("utf-16-le", "surrogatepass")
        for mark in note.marks:
            if mark.kind in _STRANGERS:
                shown = units[2 * mark.offset : 2 * (mark.offset + mark.length)].decode("utf-16-le", "replace")
                self.complaints.append(f"{mark.kind} that nobody meant: {shown!r}")

    def _sent(self, method: str, call: dict[str, Any], now: float) -> dict[str, Any]:
        note = self._content(method, call)
        if (call["chat_id"], call.get("message_thread_id", 0)) in self.closed:
            raise bad("message thread not found")
        if call.get("link_preview_options", {}).get("is_disabled") is not True and method == "sendMessage":
            self.complaints.append("a preview of links is not off")
        answer = call.get("reply_parameters") or {}
        known = (note.chat, answer.get("message_id", 0)) in self.notes
        if answer and not known and not answer.get("allow_sending_without_reply"):
            raise bad("message to be replied not found")
        note.answers = answer.get("message_id", 0) if known else 0
        note.id, note.thread = self.fresh(), call.get("message_thread_id", 0)
        note.versions.append(note.text)
        note.keyboards.append(note.keyboard)
        note.times.append(now)
        self.notes[note.chat, note.id] = note
        return self.shown(note)

    def _edited(self, method: str, call: dict[str, Any], now: float) -> dict[str, Any]:
        old = self.notes.get((call["chat_id"], call["message_id"]))
        if old is None:
            raise bad("message to edit not found")
        if old.by != 0:
            raise bad("message can't be edited")
        if method == "editMessageText" and old.kind != "text":
            raise bad("there is no text in the message to edit")
        media = call.get("media") or {}
        new = self._content(method, {**call, **{key: media[key] for key in ("caption", "parse_mode") if key in media}})
        if (new.text, new.marks, new.keyboard, new.data) == (old.text, old.marks, old.keyboard, old.data):
            raise bad(
                "message is not modified: specified new message content and reply markup are exactly the same as a "
                "current content and reply markup of the message"
            )
        old.kind, old.text, old.marks, old.keyboard, old.data = new.kind, new.text, new.marks, new.keyboard, new.data
        old.versions.append(new.text)
        old.keyboards.append(new.keyboard)
        old.times.append(now)
        return self.shown(old)

    def _removed(self, call: dict[str, Any]) -> bool:
        note = self.notes.pop((call["chat_id"], call["message_id"]), None)
        if note is None:
            raise bad("message to delete not found")
        self.deleted.append(note)
        return True

    def _acknowledged(self, call: dict[str, Any], now: float) -> bool:
        query = self.queries.get(call["callback_query_id"])
        if query is None or query.answered or now - query.at > ACKNOWLEDGE_S:
            raise bad("query is too old and response timeout expired or query ID is invalid")
        query.answered, query.text = True, str(call.get("text", ""))
        if len(query.text) > 200:
            raise bad("MESSAGE_TOO_LONG")
        return True

    def _told(self, method: str, call: dict[str, Any]) -> Any:  # noqa: ANN401 - as many shapes as methods
        match method:
            case "getMe":
                return self.me
            case "getMyCommands":
                return self.told["commands"].get(call.get("language_code", ""), [])
            case "setMyCommands":
                self.told["commands"][call.get("language_code", "")] = rules.commands(call)
                return True
            case "getMyDescription":
                return {"description": self.told.get("description", "")}
            case "getMyShortDescription":
                return {"short_description": self.told.get("short_description", "")}
            case "getChatMember":
                return self._member(call["user_id"])
            case "getFile":
                return {"file_id": call["file_id"], "file_unique_id": "u", "file_path": f"documents/{call['file_id']}"}
            case "setWebhook":
                self.webhook = call
                return True
            case "deleteWebhook":
                self.webhook = {}
                return True
        for name, most in (("description", 512), ("short_description", 120)):
            if len(str(call.get(name, ""))) > most:
                raise bad(f"bot {name} is too long")
        self.told |= call
        return True

    def _member(self, user: int) -> dict[str, Any]:
        rights: tuple[str, ...] = ("can_be_edited", "can_manage_chat", "can_delete_messages", "can_manage_video_chats")
        rights += ("can_restrict_members", "can_promote_members", "can_change_info", "can_invite_users")
        rights += ("can_post_stories", "can_edit_stories", "can_delete_stories", "is_anonymous")
        who = {"user": person_of(user, self.names.get(user, ""))}
        if user not in self.admins:
            return who | {"status": "member"}
        return who | {"status": "administrator"} | dict.fromkeys(rights, False)

    def shown(self, note: Note) -> dict[str, Any]:
        """Give a note as the platform writes it."""
        made: dict[str, Any] = {
            "message_id": note.id,
            "date": 1_700_000_000,
            "chat": chat_of(note.chat),
            "from": self.me if note.by == 0 else person_of(note.by, self.names.get(note.by, "")),
        }
        marks = [
            {"type": mark.kind, "offset": mark.offset, "length": mark.length}
            | ({"language": mark.language} if mark.language else {})
            | ({"url": mark.url} if mark.url else {})
            for mark in note.marks
        ]
        if note.kind == "text":
            made |= {"text": note.text} | ({"entities": marks} if marks else {})
        elif note.text:
            made |= {"caption": note.text} | ({"caption_entities": marks} if marks else {})
        file = {"file_id": f"f{note.id}", "file_unique_id": f"u{note.id}", "file_size": len(note.data)}
        if note.kind == "document":
            made["document"] = file | {"file_name": note.name}
        if note.kind == "photo":
            made["photo"] = [file | {"width": 90, "height": 90}]
        if note.thread:
            made |= {"message_thread_id": note.thread, "is_topic_message": True}
        if note.keyboard:
            made["reply_markup"] = {"inline_keyboard": note.keyboard}
        if note.answers and (note.chat, note.answers) in self.notes:
            made["reply_to_message"] = self.shown(self.notes[note.chat, note.answers])
        return made


def chat_of(chat: int) -> dict[str, Any]:
    """Give a chat as the platform writes it."""
    if chat > 0:
        return {"id": chat, "type": "private", "first_name": "\u202eليلى"}
    return {"id": chat, "type": "supergroup", "title": "صف"}


def person_of(user: int, name: str = "") -> dict[str, Any]:
    """Give a person as the platform writes one; the name holds an override of direction unless another is given."""
    return {"id": user, "is_bot": False, "first_name": name or "\u202eليلى", "language_code": "ar"}
