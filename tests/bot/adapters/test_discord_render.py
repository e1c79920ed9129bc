"""Every stop of every lesson and every phrase as Discord's calls: within its limits, nobody pinged, no stray mark."""

from collections.abc import Iterator, Sequence

import pytest

from bot import rehearsal, servers, settings
from bot.adapters.discord import looks, render, showing
from bot.adapters.discord.drafts import Draft
from bot.app import SystemDice
from bot.engine.replies import Choices, Paragraph, Reply
from bot.engine.wording import Wording
from bot.errors import SettingsError
from bot.posting.looks import Look, OverLimitError
from content.schema import Course

STRANGE = ("<mark", "<em", "<s>", "<del", "<u>", "dc-head", "dc-item", "dc-quote", "<small")
"""What nothing of ours is meant to become: pings, bare links, marks that a text held by chance."""
TOKEN = "x" * 26 + "." + "y" * 6 + "." + "z" * 38


def faults(drafts: Sequence[Draft]) -> Iterator[str]:
    for draft in drafts:
        try:
            looks.within(draft)
        except OverLimitError as error:
            yield str(error)
        shown = showing.read(draft.text)
        yield from (f"{strange} in {draft.text[:80]!r}" for strange in STRANGE if strange in shown)
        if draft.text and showing.direction(draft.text) != "rtl":
            yield f"drawn left to right: {draft.text[:60]!r}"


def test_every_stop_of_every_lesson_keeps_the_limits_and_reads_right_to_left(own_course: Course) -> None:
    using, dice = looks.look(own_course), SystemDice()
    found: list[str] = []
    seen = 0
    for lesson in own_course.lessons:
        for press, said in rehearsal.shown(own_course, lesson.slug, dice):
            for reply in said:
                made = render.drafts(reply, using)
                seen += len(made)
                found += [f"{lesson.slug} {press}: {fault}" for fault in faults(made)]
                wanted = {one.payload for block in reply.blocks if isinstance(block, Choices) for one in block.choices}
                offered = {one.payload for draft in made for row in draft.keyboard for one in row}
                found += [f"{lesson.slug} {press}: a button is missing"] if wanted != offered else []
    assert found == []
    assert seen > 300


def test_every_phrase_keeps_the_limits_and_pings_nobody(own_course: Course) -> None:
    words = Wording(own_course.phrases)
    found: list[str] = []
    for key in own_course.phrases:
        for n in (0, 1, 2, 5, 11, 100):
            made = render.drafts(Reply((Paragraph(words.say(key, n=n)),)), Look())
            found += [f"{key}: {fault}" for fault in faults(made)]
    assert found == []


@pytest.mark.parametrize(
    ("token", "said"), [("", "developer portal"), ("12 34", "does not look like a token"), (f"{TOKEN} x", "look like")]
)
async def test_a_start_without_a_sound_token_says_how_to_get_one(tmp_path: object, token: str, said: str) -> None:
    found = settings.load({"TASREE_DATA": str(tmp_path), "TASREE_DISCORD_TOKEN": token})
    with pytest.raises(SettingsError, match=said) as caught:
        await servers.serve_discord(found, {}, lambda _: None)
    assert TOKEN not in str(caught.value)
