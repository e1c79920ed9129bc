"""Where replies go on Telegram: to the post that they answer and into its topic, whatever happened in between."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Sequence
from typing import Any

from botapi.person import Person, seen
from botapi.place import Bot, Place
from botapi.world import Note

from bot.adapters.telegram.hearing import PLATFORM
from bot.testing import InstantRunner
from sandbox_runner.protocol import Event, Job

GROUP = -1001


class Held(InstantRunner):
    """Holds each job until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()
        self.held: list[Job] = []

    async def submit(self, job: Job) -> AsyncGenerator[Event, None]:
        self.held.append(job)
        await self.go.wait()
        async for event in super().submit(job):
            yield event


def freed() -> Held:
    runner = Held()
    runner.go.set()
    return runner


def dropped(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Begin nothing."""
    work.close()
    return asyncio.create_task(asyncio.sleep(0))


def only(notes: Sequence[Note], text: str) -> Note:
    (found,) = (note for note in notes if text in seen(note.text))
    return found


async def sent(person: Person, code: str) -> int:
    return person.send(f"```python\n{code}\n```\n@tasree_bot")


async def test_a_result_that_comes_after_a_restart_replies_to_its_post_in_its_topic(place: Place) -> None:
    asking = place.person(7, GROUP, thread=5)
    runner = Held()
    async with place.bot(runner):
        asked = await sent(asking, "print(1)")
        await asking.until(lambda: bool(runner.held) and bool(asking.screen()))
        place.person(7, GROUP, thread=6).send("/map@tasree_bot")
        await asking.sees("رقم الدرس أو اسمه")
    (progress,) = (note for note in asking.screen() if note.thread == 5)
    del place.world.notes[GROUP, progress.id]  # somebody deleted what stood there: the result comes as a new reply
    async with place.bot(freed()) as bot:
        await asking.sees("انتهى التشغيل بنجاح")
        await bot.idle()
    result = only(asking.screen(), "انتهى التشغيل بنجاح")
    assert (result.thread, result.answers) == (5, asked)
    place.world.refusals.clear()  # the edit of what was deleted


async def test_a_reply_that_was_said_and_not_sent_goes_to_its_post_after_a_restart(place: Place) -> None:
    asking = place.person(7, GROUP, thread=5)
    place.world.blocked.add(GROUP)  # so that nothing goes out before the restart
    async with place.bot() as bot:
        asked = asking.send("/map@tasree_bot")
        await asking.until(lambda: ("sendMessage", GROUP) in [call[1:] for call in place.world.calls])
        row = await bot.app.enter(PLATFORM, f"{GROUP}/7", greet=False)
        await bot.idle()
        async with bot.store._writer.begin() as connection:
            await connection.exec_driver_sql("DELETE FROM deliveries")
            await connection.exec_driver_sql("UPDATE mailboxes SET silent = 0, delivered = 0")
        (said,) = await bot.store.since(row.id, 0)
        assert (said.answers, said.address) == (str(asked), f"{GROUP}/5")
    place.world.blocked.clear()
    async with place.bot() as bot:
        await asking.sees("رقم الدرس أو اسمه")
        await bot.idle()
    (note,) = asking.screen()
    assert (note.thread, note.answers) == (5, asked)


async def test_code_that_was_being_checked_at_a_restart_is_answered_at_its_post(place: Place) -> None:
    asking = place.person(7, GROUP, thread=5)
    async with place.bot(freed()) as bot:
        bot.app._spawn = dropped  # type: ignore[method-assign]  # the process dies before the check
        asked = await sent(asking, "print(1)")
        await asking.until(lambda: bool(place.world.confirmed))
        await bot.serving.hearing.idle()
    async with place.bot(freed()) as bot:
        await asking.sees("انتهى التشغيل بنجاح")
        await bot.idle()
    note = only(asking.screen(), "انتهى التشغيل بنجاح")
    assert (note.thread, note.answers) == (5, asked)


async def test_what_is_long_under_way_stays_in_its_topic_though_its_learner_goes_on_elsewhere(place: Place) -> None:
    runner = Held()
    one, other = place.person(7, GROUP, thread=5), place.person(7, GROUP, thread=6)
    async with place.bot(runner) as bot:
        asked = await sent(one, "print(1)")
        await one.until(lambda: bool(runner.held) and bool(one.screen()))
        elsewhere = other.send("/map@tasree_bot")
        await other.sees("رقم الدرس أو اسمه")
        runner.go.set()
        await one.sees("انتهى التشغيل بنجاح")
        await bot.idle()
    places = {(note.thread, note.answers) for note in one.screen()}
    assert places == {(5, asked), (6, elsewhere)}


async def test_a_deleted_topic_sends_the_reply_to_its_group(place: Place) -> None:
    place.world.closed.add((GROUP, 5))
    asking = place.person(7, GROUP, thread=5)
    async with place.bot():
        asking.send("/map@tasree_bot")
        await asking.sees("رقم الدرس أو اسمه")
    assert [note.thread for note in asking.screen()] == [0]
    place.world.refusals.clear()


async def test_a_result_follows_its_group_to_the_supergroup(place: Place) -> None:
    runner = Held()
    before, after = place.person(7, -55), place.person(7, -100_55)
    async with place.bot(runner) as bot:
        await sent(before, "print(1)")
        await before.until(lambda: bool(runner.held) and bool(before.screen()))
        place.world.migrated[-55] = -100_55
        runner.go.set()
        await after.sees("انتهى التشغيل بنجاح")
        await moved(bot, place)
    place.world.refusals.clear()


async def moved(bot: Bot, place: Place) -> None:
    """Look at what the store says of the old address: nothing."""
    await bot.idle()
    row = await bot.app.enter(PLATFORM, "-10055/7", greet=False)
    said = await bot.store.since(row.id, 0)
    assert said
    assert {one.address for one in said} == {"-10055"}
    assert place.world.migrated
