"""A group's quiz on Telegram, against the strict stand-in: many press at once, restarts, forged presses, topics."""

import asyncio
import itertools
import random
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from botapi.killable import forked
from botapi.person import Person, seen
from botapi.place import Bot, Place
from botapi.server import serving
from botapi.world import Flood, Note, World

from bot.posting.pacing import Limits
from bot.testing import FixedDice, StandStillClock
from bot.waking import Waker
from tests.bot.adapters.test_telegram_killed import count, still, unsure

GROUP = -1001


@asynccontextmanager
async def woken(place: Place, clock: StandStillClock) -> AsyncIterator[Bot]:
    """Start a bot that also looks for what fell due."""
    async with place.bot(dice=FixedDice() if not place.world.calls else None, clock=clock) as bot:
        waker = asyncio.create_task(Waker(bot.app, bot.store, clock, "telegram").run())
        try:
            yield bot
        finally:
            waker.cancel()
            await asyncio.gather(waker, return_exceptions=True)


def question(person: Person) -> Note:
    """Give the newest question for all."""
    return next(note for note in reversed(person.screen()) if "سؤال للجميع" in note.text)


def told(person: Person, query: str) -> str:
    return person.world.queries[query].text


async def test_thirty_members_press_at_once_and_each_counts_once_within_the_limits(place: Place) -> None:
    place.world.flood = Flood()
    async with place.bot(dice=FixedDice(), limits=Limits(), edit_every_s=0.3) as bot:
        asker = place.person(7, GROUP)
        asker.send("/group@tasree_bot 2")
        await asker.sees("سؤال للجميع: 1 من 2")
        members = [place.person(user, GROUP) for user in range(100, 130)]
        first = [each.press("المصفوفة" if each.user % 3 else "الحلقة") for each in members]
        second = [each.press("سواء") for each in members]
        await asker.sees("وصلت 30 إجابة")
        await bot.idle()
        # On a machine that is busy with other things a press may be acknowledged before it was answered, without words.
        assert {told(asker, query) for query in first} - {""} == {"سُجّلت الإجابة."}
        assert {told(asker, query) for query in second} - {""} == {"الإجابة الأولى هي المحسوبة، وقد سُجّلت من قبل."}
        times = question(asker).times[1:]
        assert all(later - before > 0.55 for before, later in itertools.pairwise(times))  # thirty presses, few edits
        members[0].press("إغلاق السؤال")
        refused = members[1].press("إغلاق السؤال")
        await asker.until(lambda: "لمن بدأ الاختبار" in told(asker, refused))
        asker.press("إغلاق السؤال")
        await asker.sees("الإجابات الصحيحة: 20 من 30")
        late = members[2].press("المصفوفة")
        await asker.sees("✓ المصفوفة — 20 إجابة")
        assert not question(asker).keyboard
        await asker.until(lambda: "أُغلق هذا السؤال" in told(asker, late))
        asker.press("السؤال التالي")
        await asker.sees("سؤال للجميع: 2 من 2")
        await bot.idle()
        assert place.world.flood.breaches == 0
        assert place.world.unanswered() == []


async def test_names_on_the_board_ping_nobody_and_link_nowhere(place: Place) -> None:
    names = ["\u202eمقلوب\u202c", "<b>bold</b> & @durov", "np.dot t.me/x #tag $USD", "1234567890123456", "🔥", "李小龙"]
    place.world.names = dict(enumerate(names, 200))
    async with place.bot(dice=FixedDice()) as bot:
        asker = place.person(200, GROUP)
        asker.send("اختبار جماعي 1 @tasree_bot")
        await asker.sees("سؤال للجميع")
        for user in place.world.names:
            place.person(user, GROUP).press("المصفوفة")
        await asker.sees("وصلت 6 إجابات")
        asker.press("إغلاق السؤال")
        await asker.sees("الجواب:")
        asker.press("النتيجة النهائية")
        await asker.sees("من تساوت نقاطهم")
        await bot.idle()
        board = next(seen(note.text) for note in reversed(asker.screen()) if "نتيجة الاختبار" in note.text)
        for name in ("مقلوب", "b bold b durov", "np dot t me x tag USD", "123456", "عضو بلا اسم", "李小龙"):
            assert f"1. {name}: نقطة واحدة" in board
        assert "\u202e" not in board


async def test_ones_own_quiz_in_a_group_stays_ones_own_and_a_forged_press_answers_nothing(place: Place) -> None:
    async with place.bot(dice=FixedDice()) as bot:
        one, other = place.person(7, GROUP), place.person(8, GROUP)
        one.send("اختبار @tasree_bot")
        await one.sees("أي صيغة أسرع")
        own = next(note for note in one.screen() if note.keyboard)
        assert "حوار متعلّم آخر" in told(one, await pressed(bot, other, own, own.keyboard[0][0]["callback_data"]))
        one.send("/group@tasree_bot 1")
        await one.sees("سؤال للجميع")
        for_all = question(one)
        ask = for_all.keyboard[0][0]["callback_data"].split(":")[2]
        for payload in (f"1:grp:{ask}:none", f"1:grp:{'x' * 12}:array", f"1:grp:{ask}:_done", "1:grp::", "1:grp:" * 9):
            assert await pressed(bot, other, for_all, payload)
        assert await pressed(bot, other, own, f"1:grp:{ask}:loop")  # under another reply, and yet the question's own
        await bot.idle()
        await one.sees("وصلت إجابة واحدة")
        assert await pressed(bot, other, for_all, f"1:ans:{ask}:array")
        await bot.idle()
        assert "وصلت إجابة واحدة" in one.reads()
        private = place.person(9)
        private.send("/group 3")
        await private.sees("للمجموعات")


async def pressed(bot: Bot, person: Person, note: Note, payload: str) -> str:
    query = person.press_at(note, payload)
    await person.until(lambda: person.world.queries[query].answered)
    await bot.idle()
    return query


async def test_each_topic_has_a_quiz_of_its_own_and_one_at_a_time(place: Place) -> None:
    async with place.bot(dice=FixedDice()) as bot:
        here, there = place.person(7, GROUP, thread=5), place.person(8, GROUP, thread=6)
        here.send("/group 2")
        await here.sees("سؤال للجميع: 1 من 2")
        there.send("/group 1")
        await here.sees("سؤال للجميع: 1 من 1")
        there.send("/group 1")
        await here.sees("لم ينته بعد: السؤال 1 من 1")
        await bot.idle()
        threads = {seen(note.text).splitlines()[0]: note.thread for note in here.screen() if "للجميع" in note.text}
        assert threads == {"سؤال للجميع: 1 من 2": 5, "سؤال للجميع: 1 من 1": 6}


async def test_an_admin_may_end_what_another_began_and_a_member_may_not(place: Place) -> None:
    place.world.admins = {9}
    async with place.bot(dice=FixedDice()) as bot:
        asker, member, admin = (place.person(user, GROUP) for user in (7, 8, 9))
        asker.send("/group 2")
        await asker.sees("سؤال للجميع")
        member.send("/group end")
        await asker.sees("هذا لمن بدأ الاختبار")
        admin.send("/group end")
        await asker.sees("أُنهي الاختبار قبل آخر أسئلته")
        await bot.idle()
        assert not question(asker).keyboard


async def test_a_quiz_goes_on_over_a_restart_at_each_of_its_steps(place: Place) -> None:
    clock = StandStillClock()
    asker, ali, mona = (place.person(user, GROUP) for user in (7, 8, 9))
    place.world.names = {7: "سارة", 8: "علي", 9: "منى"}
    async with woken(place, clock):
        asker.send("/group 2")
        await asker.sees("سؤال للجميع: 1 من 2")
    async with woken(place, clock) as bot:
        ali.press("المصفوفة")
        await asker.sees("وصلت إجابة واحدة")
        await bot.idle()
    mona.press("الحلقة")  # while no bot is there
    async with woken(place, clock) as bot:
        await asker.sees("وصلت إجابتان")
        await bot.idle()
        again = ali.press("الحلقة")
        await bot.idle()
        await asker.until(lambda: "من قبل" in told(asker, again))
    clock.at += timedelta(seconds=61)  # the time passes while no bot is there
    async with woken(place, clock) as bot:
        await asker.sees("الإجابات الصحيحة: 1 من 2")
        await bot.idle()
    clock.at += timedelta(seconds=26)
    async with woken(place, clock) as bot:
        await asker.sees("سؤال للجميع: 2 من 2")
        await bot.idle()
        ali.press("نعم")
        await asker.sees("وصلت إجابة واحدة")
        await bot.idle()
        clock.at += timedelta(seconds=61)
        mona.press("لا")  # whatever happens sets the time anew, which has come by now
        await asker.sees("النتيجة النهائية بعد")
        await bot.idle()
    async with woken(place, clock) as bot:
        asker.press("النتيجة النهائية")
        await asker.sees("1. علي: نقطتان")
        await asker.sees("2. منى: بلا نقاط")
        await bot.idle()
    async with woken(place, clock) as bot:
        asker.send("/group board")
        await asker.until(lambda: len(re.findall("نتيجة الاختبار الجماعي", asker.reads())) == 2)
        await bot.idle()
    assert len([note for note in asker.screen() if "سؤال للجميع" in note.text]) == 2


async def test_a_group_that_becomes_a_supergroup_goes_on_with_its_quiz(place: Place) -> None:
    async with place.bot(dice=FixedDice()) as bot:
        before = place.person(7, -55)
        before.send("/group 1")
        await before.sees("سؤال للجميع")
        await bot.idle()
        place.world.becomes_supergroup(-55, -100_55, member=7)
        after = place.person(7, -100_55)
        after.send("/group 1")
        await after.sees("لم ينته بعد")
        await bot.idle()


async def test_kills_at_any_point_lose_and_double_no_press_in_a_group(migrated: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(migrated, tmp_path / "t.db"))
    world, chance = World(), random.Random(5)  # noqa: S311 - chance that comes again
    async with serving(world) as server, forked(path, server.url, world.token) as bot:
        await bot.tell("start")
        asker = Person(world, 7, GROUP)
        asker.send("/group 1 600 ثانية")
        await asker.sees("سؤال للجميع: 1 من 1")
        members = [Person(world, user, GROUP) for user in range(100, 110)]
        note = question(asker)
        options = [row[0]["callback_data"] for row in note.keyboard if "_" not in row[0]["callback_data"]]
        for at, member in enumerate(members):
            member.press_at(note, options[at % len(options)])
            member.press_at(note, options[(at + 1) % len(options)])
            if at in {2, 6}:
                await asyncio.sleep(chance.uniform(0.0, 0.25))
                await bot.tell("kill")
                await bot.tell("start")
        async with asyncio.timeout(60):
            while not still(world, path):  # noqa: ASYNC110 - another process does the work
                await asyncio.sleep(0.05)
        assert count(path, "SELECT count(*) FROM group_answers") == len(members)
        assert count(path, "SELECT count(*) FROM asks WHERE credit IS NOT NULL") == len(members)
        for at, member in enumerate(members):
            option = options[at % len(options)].split(":")[3]
            query = (
                "SELECT count(*) FROM group_answers JOIN chats ON chats.id = group_answers.chat "  # noqa: S608 - our own
                f"WHERE external = '{GROUP}/{member.user}' AND answer = '{option}'"
            )
            assert count(path, query) == 1
        assert "وصلت 10 إجابات" in seen(question(asker).text) or unsure(path)
        assert len([each for each in asker.screen() if "سؤال للجميع" in each.text]) == 1
        assert world.complaints == []
        await bot.tell("stop")
