"""What a learner reads while the broker has no room: first that the run waits, then a sentence, then it works again."""

from dataclasses import replace
from pathlib import Path

from fleet import KEY, fleet, full
from stand_in import TIMES

from bot.app import App, SystemDice
from bot.engine.events import CodeSent
from bot.testing import MemoryStore, ParsingChecker, RecordingChat, StandStillClock
from content.schema import Course
from sandbox_runner.broker import names
from sandbox_runner.broker.line import Broker
from sandbox_runner.broker.submitting import BrokerRunner

FULL = "صف التشغيل ممتلئ الآن"


async def test_a_learner_whose_run_finds_no_room_reads_so_once_and_the_next_one_runs(
    course: Course, tmp_path: Path
) -> None:
    async with fleet(tmp_path) as one:
        one.launch("r1")
        runner = BrokerRunner(Broker(one.server.address), KEY, replace(TIMES, bound_s=0.5))
        one.bots.append(runner)
        await one.lives(runner, 2)
        store, dice = MemoryStore(), SystemDice()
        app = App(
            course=course,
            store=store,
            runner=runner,
            checker=ParsingChecker(),
            clock=StandStillClock(),
            dice=dice,
            chat=RecordingChat(),
        )
        await app.start(adopt=False)
        await app.runner_asked()
        try:
            chat = (await app.enter("web", "ali")).id
            async with full(one, names.JOBS):
                await app.take(chat, CodeSent("print(1)"), "first")
                await app.idle()
            assert repr(await app.since(chat, 0)).count(FULL) == 1
            await app.take(chat, CodeSent("print(2)"), "second")
            await app.idle()
            assert repr(await app.since(chat, 0)).count(FULL) == 1
            assert len(one.begun("r1")) == 1
            assert await store.unfinished() == ()
        finally:
            await app.close()
