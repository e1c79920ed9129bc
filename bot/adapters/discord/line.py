"""The calls of Discord's interface, each one try, and what its errors mean for trying again.

Law: text pings nobody and shows no preview. What only one learner sees goes by the interaction it answers, for as long
as that lives (fourteen of its fifteen minutes); later it goes to the channel.
"""

import asyncio
import io
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import aiohttp
import discord

from bot.adapters.discord import marked, places
from bot.adapters.discord.buttons import view_of
from bot.adapters.discord.drafts import Draft, FileDraft, TextDraft
from bot.engine.replies import Timings
from bot.posting import bars
from bot.posting.errors import BusyError, GoneError, MissingError, NotSentError, RefusedError, UnsureError

T = TypeVar("T")

LIVES_S = 14 * 60.0
MOST_KEPT = 10_000
_MISSING = {10008}
_GONE = {10003, 10004, 50001, 50007, 50013, 50278, 30033, 160005}
"""No such channel or server, no access, closed private chats, missing permission, closed or full threads."""
_NO_RIGHT = 50013
_EXPIRED = {10015, 10062, 50027}
_NONE = discord.AllowedMentions.none()


@dataclass(frozen=True, slots=True)
class _Answerable:
    """An interaction that can still be answered: its webhook, and until when."""

    hook: discord.Webhook
    until: float


class DiscordLine:
    """Implements `Line` over a client of discord.py."""

    def __init__(
        self,
        client: discord.Client,
        kept: Callable[[str], Awaitable[bytes | None]],
        clock: Callable[[], float],
        word: Callable[[str], str],
    ) -> None:
        self._client = client
        self._word = word
        self._kept = kept
        self._clock = clock
        self._answerable: OrderedDict[str, _Answerable] = OrderedDict()
        self._by: OrderedDict[str, discord.Webhook] = OrderedDict()

    def answerable(self, address: str, interaction: "discord.Interaction[Any]") -> None:
        """Hear of an interaction by which this address can be answered for a while."""
        self._answerable[address] = _Answerable(interaction.followup, self._clock() + LIVES_S)
        self._answerable.move_to_end(address)
        while len(self._answerable) > MOST_KEPT:
            self._answerable.popitem(last=False)

    async def send(self, address: str, draft: Draft, answers: str) -> str:
        """Send a part; give its id. Where no files may be attached, a file is named instead."""
        try:
            return await self._sent(address, draft, answers)
        except GoneError as error:
            if not isinstance(draft, FileDraft) or not _lacks_right(error):
                raise
            return await self._sent(address, self._named(draft), answers)

    async def _sent(self, address: str, draft: Draft, answers: str) -> str:
        content, files = await self._made(draft)
        view = view_of(draft.keyboard)
        options: dict[str, Any] = {"allowed_mentions": _NONE, "files": files}
        if view is not None:
            options["view"] = view
        hook = self._hook(address)
        if hook is not None:
            try:
                unseen: discord.WebhookMessage = await _tried(
                    hook.send(content, ephemeral=True, wait=True, suppress_embeds=True, **options), files
                )
            except MissingError:
                self._answerable.pop(address, None)  # it expired: the channel takes it
                content, options["files"] = await self._made(draft)
            else:
                self._remember(str(unseen.id), hook)
                return str(unseen.id)
        if answers and address.startswith("g"):
            reference = discord.MessageReference(
                message_id=int(answers), channel_id=places.channel_of(address), fail_if_not_exists=False
            )
            options["reference"] = reference
        target = self._target(address)
        sent = await _tried(target.send(content, suppress_embeds=True, **options), options["files"])
        return str(sent.id)

    async def edit(self, address: str, external: str, draft: Draft) -> None:
        """Put another content in the place of a part; of a file its name, where none may be attached."""
        try:
            await self._edited(address, external, draft)
        except GoneError as error:
            if not isinstance(draft, FileDraft) or not _lacks_right(error):
                raise
            await self._edited(address, external, self._named(draft))

    async def _edited(self, address: str, external: str, draft: Draft) -> None:
        content, files = await self._made(draft)
        options: dict[str, Any] = {"view": view_of(draft.keyboard), "allowed_mentions": _NONE, "attachments": files}
        hook = self._by.get(external)
        if hook is not None:
            await _tried(hook.edit_message(int(external), content=content, **options), files)
            return
        part = self._target(address).get_partial_message(int(external))
        await _tried(part.edit(content=content, **options), files)

    async def remove(self, address: str, external: str) -> None:
        """Take a part back."""
        hook = self._by.pop(external, None)
        try:
            if hook is not None:
                await _tried(hook.delete_message(int(external)), [])
            else:
                await _tried(self._target(address).get_partial_message(int(external)).delete(), [])
        except MissingError:
            return

    def _hook(self, address: str) -> discord.Webhook | None:
        found = self._answerable.get(address) if address.startswith("e") else None
        return found.hook if found is not None and found.until > self._clock() else None

    def _named(self, draft: FileDraft) -> TextDraft:
        """Give what is said of a file that cannot be attached."""
        note = marked.begun(marked.prose(self._word("discord.no_files")))
        return TextDraft(f"{draft.text}\n{note}".strip(), draft.keyboard)

    def _remember(self, external: str, hook: discord.Webhook) -> None:
        self._by[external] = hook
        while len(self._by) > MOST_KEPT:
            self._by.popitem(last=False)

    def _target(self, address: str) -> discord.PartialMessageable:
        return self._client.get_partial_messageable(places.channel_of(address))

    async def _made(self, draft: Draft) -> tuple[str, list[discord.File]]:
        match draft:
            case TextDraft(text=text):
                return text, []
            case FileDraft(name=name, text=text):
                return text, [discord.File(io.BytesIO(await self._content(draft)), filename=name)]

    async def _content(self, draft: FileDraft) -> bytes:
        if isinstance(draft.content, Timings):
            return await asyncio.to_thread(bars.drawn, draft.content)
        data = await self._kept(draft.ref) if draft.ref else draft.content
        if data is None:
            message = "the file is not kept any more"
            raise RefusedError(message)
        return data


def _lacks_right(error: GoneError) -> bool:
    """Tell whether a call failed for a right that is missing, which may be that to attach files."""
    return isinstance(error.__cause__, discord.HTTPException) and error.__cause__.code == _NO_RIGHT


async def _tried(call: Awaitable[T], files: list[discord.File]) -> T:
    try:
        return await call
    except discord.RateLimited as error:
        raise BusyError(error.retry_after) from error
    except discord.NotFound as error:
        raise (MissingError if error.code in _MISSING | _EXPIRED else GoneError)(str(error)) from error
    except discord.DiscordServerError as error:
        raise UnsureError(str(error)) from error
    except discord.HTTPException as error:
        raise _of_code(error) from error
    except (aiohttp.ClientConnectorError, aiohttp.ServerDisconnectedError) as error:
        lost = isinstance(error, aiohttp.ClientConnectorError)
        raise (NotSentError if lost else UnsureError)(str(error)) from error
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise UnsureError(str(error)) from error
    finally:
        for file in files:
            file.close()


def _of_code(error: discord.HTTPException) -> Exception:
    if error.status >= 500:  # noqa: PLR2004 - the platform's own fault: it may have taken it
        return UnsureError(str(error))
    if error.code in _GONE:
        return GoneError(str(error))
    if error.code in _MISSING | _EXPIRED:
        return MissingError(str(error))
    if error.status == 429:  # noqa: PLR2004 - too many
        return BusyError(float(getattr(error, "retry_after", 0.0)) or 5.0)
    return RefusedError(str(error))
