"""People on Telegram who press, edit and write in the wrong order, or at what is somebody else's."""

import asyncio
import re
from collections.abc import AsyncIterator

from botapi.place import Place
from botapi.world import Note

from bot.testing import InstantRunner, printed
from content.schema import Item
from sandbox_runner.protocol import Accepted, Ending, Event, Finished, Job, Result, Stream
from tests.bot import test_conversations as golden

GROUP = -1001


class HeldRunner(InstantRunner):
    """A runner whose jobs end when they are stopped, or all are let go."""

    def __init__(self) -> None:
        super().__init__()
        self.free = asyncio.Event()

    async def submit(self, job: Job) -> AsyncIterator[Event]:
        self.submitted.append(job)
        yield Accepted(0, 0.0)
        while not self.free.is_set() and job.id not in self.cancelled:  # noqa: ASYNC110 - two ways to end
            await asyncio.sleep(0.005)
        stopped = Result(job.id, job.kind, Ending.CANCELLED, job.device)
        yield Finished(stopped if job.id in self.cancelled else printed(job))


def answering(job: Job) -> Result:
    """Answer the question about the sum rightly, and run anything else."""
    found = re.search(r"print\('\\n(\w+)'\)", job.source)
    text = f"\n{found[1]}\n14\n" if found else job.source
    return Result(job.id, job.kind, Ending.OK, job.device, Stream(text, "", len(text)))


def payloads(note: Note) -> list[str]:
    return [button["callback_data"] for row in note.keyboard for button in row]


async def test_an_edit_of_an_answer_that_counted_leaves_the_next_question_where_it_is(
    place: Place, other_items: tuple[Item, ...]
) -> None:
    place.course = golden.with_items(place.course, ("code", "true_false"), other_items)
    runner = InstantRunner(answering)
    async with place.bot(runner) as bot:
        learner = place.person()
        learner.send("اختبار")
        await learner.sees("كتابة دالة")
        sent = learner.send_code("def total(values):\n    return 14")
        await learner.sees("السؤال 2 من 2")
        await bot.idle()
        learner.edit(sent, "```python\nprint('another')\n```")
        await learner.sees("another")
        await bot.idle()
        assert all(text in learner.reads() for text in ("المربع قبل الجمع", "السؤال 2 من 2"))
        learner.press("صواب")
        await learner.sees("النتيجة:")
        await bot.idle()


async def test_edits_in_a_row_end_with_the_last_one_and_one_result_and_nobody_stops_anothers_run(place: Place) -> None:
    runner = HeldRunner()
    async with place.bot(runner) as bot:
        learner, other = place.person(), place.person(8)
        sent = learner.send("```python\nprint(1)\n```")
        await learner.until(lambda: "إيقاف" in learner.labels())
        stop = next(payload for payload in payloads(learner.screen()[-1]) if payload.startswith("1:stop:"))
        other.send("خريطة")
        await other.sees("رقم الدرس")
        other.press_at(other.screen()[-1], stop)
        await other.sees("هذا التشغيل لم يعد جاريًا")
        assert runner.cancelled == []
        learner.press("إيقاف")
        await learner.sees("أُوقف التشغيل")
        for number in range(2, 7):
            learner.edit(sent, f"```python\nprint({number})\n```")
        await learner.until(lambda: runner.submitted[-1].source.strip() == "print(6)")
        runner.free.set()
        await learner.sees("انتهى التشغيل بنجاح")
        await bot.idle()
        assert len(learner.screen()) == 1
        learner.press_at(learner.screen()[-1], stop)
        await learner.sees("هذا التشغيل لم يعد جاريًا")
        await bot.idle()


async def test_old_buttons_after_everything_was_deleted_lead_nowhere(place: Place) -> None:
    async with place.bot() as bot:
        learner = place.person()
        learner.send("اختبار")
        await learner.sees("أي صيغة أسرع")
        asked = learner.screen()[-1]
        learner.press("المصفوفة")
        await learner.sees("لأن الحلقة")
        await bot.idle()
        learner.press_at(asked, payloads(asked)[0])
        await learner.sees("أُجيب عنه من قبل")
        learner.send("/delete")
        await learner.sees("حذف كل البيانات")
        learner.press("حذف نهائي")
        await learner.sees("حُذف كل شيء")
        await bot.idle()
        learner.press_at(asked, payloads(asked)[0])
        await learner.sees("لسؤال لم يعد محفوظًا")
        learner.send("تقدّمي")
        await learner.until(lambda: len(learner.screen()) > 0)
        await bot.idle()
        assert "حوار متعلّم آخر" not in learner.reads()


async def test_a_typed_answer_to_somebody_elses_question_in_a_group_is_not_their_answer(place: Place) -> None:
    async with place.bot() as bot:
        asker, other = place.person(7, GROUP), place.person(8, GROUP)
        asker.send("اختبار @tasree_bot")
        await asker.sees("أي صيغة أسرع")
        await bot.idle()
        own = next(note for note in asker.screen() if note.keyboard)
        other.send("المصفوفة", answers=own.id)
        await bot.idle()
        await asyncio.sleep(0.1)
        await bot.idle()
        assert "لأن الحلقة في لغة" not in asker.reads()
        press = other.press_at(own, payloads(own)[0])
        await other.until(lambda: place.world.queries[press].answered)
        assert "حوار متعلّم آخر" in place.world.queries[press].text
        asker.press("المصفوفة")
        await asker.sees("لأن الحلقة في لغة")
        await bot.idle()


async def test_a_code_of_another_platform_is_worth_nothing_in_a_group_and_nothing_to_its_own_learner(
    place: Place,
) -> None:
    async with place.bot() as bot:
        learner, stranger = place.person(), place.person(9)
        learner.send("/link")
        await learner.sees("رمز الربط:")
        found = re.search(r"[0-9A-Z]{5}-[0-9A-Z]{5}", learner.reads())
        assert found is not None
        learner.send(f"/link {found[0]}")
        await learner.sees("لهذا المتعلّم نفسه")
        member = place.person(7, GROUP)
        member.send(f"/link@tasree_bot {found[0]}")
        await member.until(lambda: bool(member.screen()))
        for number in range(7):
            stranger.send(f"/link 0000{number}-0000{number}")
        await stranger.sees("رموز خاطئة كثيرة")
        await bot.idle()
        assert "رُبط" not in re.sub("لم يُربط", "", member.reads() + stranger.reads())
