"""What strangers, clients and the platform send to the bot on Telegram beside what it is made for; and restarts."""

import asyncio
from collections.abc import Callable

from botapi.person import Person, seen
from botapi.place import Place
from botapi.world import Query

from bot.adapters.telegram.hearing import PLATFORM
from bot.testing import InstantRunner

GROUP = -1001
ROBOT = {"id": 1087968824, "is_bot": True, "first_name": "Group", "username": "GroupAnonymousBot"}
CHANNEL = {"id": -1002, "type": "channel", "title": "قناة"}


async def test_forwarded_code_runs_and_a_forwarded_post_is_read(place: Place) -> None:
    runner = InstantRunner()
    async with place.bot(runner):
        learner = place.person()
        for origin in (
            {"type": "hidden_user", "date": 1, "sender_user_name": "\u202eمجهول"},
            {"type": "channel", "date": 1, "chat": CHANNEL, "message_id": 3},
        ):
            before = len(runner.submitted)
            learner.odd(text="```python\nprint(1)\n```", forward_origin=origin)
            await learner.until(lambda before=before: len(runner.submitted) == before + 1)  # type: ignore[misc]
        learner.odd(text="خريطة", forward_origin={"type": "hidden_user", "date": 1, "sender_user_name": "x"})
        await learner.sees("رقم الدرس أو اسمه")


async def test_posts_of_channels_and_of_nobody_in_a_group_are_left_alone(place: Place) -> None:
    async with place.bot() as bot:
        member = place.person(7, GROUP)
        member.odd(text="/map@tasree_bot", sender_chat=CHANNEL, is_automatic_forward=True)
        itself = {"id": GROUP, "type": "supergroup", "title": "x"}
        member.odd(text="/map@tasree_bot", sender_chat=itself, **{"from": ROBOT})
        member.odd(new_chat_members=[{"id": 8, "is_bot": False, "first_name": "/map"}])
        member.odd(pinned_message={"message_id": 1, "date": 0, "chat": {"id": GROUP, "type": "supergroup"}})
        place.world.update(edited_channel_post={"message_id": 1, "date": 1, "chat": CHANNEL, "text": "/map"})
        place.world.update(chosen_inline_result={"result_id": "1", "from": ROBOT, "query": "x"})
        member.send("/map@tasree_bot")
        await member.sees("رقم الدرس أو اسمه")
        await bot.idle()
        assert len(member.screen()) == 1


async def test_updates_that_cannot_be_read_hold_up_nothing(place: Place) -> None:
    async with place.bot() as bot:
        learner = place.person()
        for broken in ({"message": {"message_id": "x"}}, {"message": 7}, {"callback_query": {"id": "q", "from": 3}}):
            place.world.update(**broken)
        learner.send("خريطة")
        await learner.sees("رقم الدرس أو اسمه")
        await bot.idle()
        assert await bot.store.outbox().left(PLATFORM) == ()
    place.world.refusals.clear()  # the acknowledgement of a press that never was


async def test_a_button_of_nothing_of_ours_is_acknowledged(place: Place) -> None:
    async with place.bot() as bot:
        learner = place.person()
        person = {"id": 7, "is_bot": False, "first_name": "x"}
        gone = {"message_id": 5, "date": 0, "chat": {"id": 7, "type": "private"}}
        presses: dict[str, dict[str, object]] = {
            "inline": {"inline_message_id": "x", "data": "1:cmd:map:"},
            "game": {"message": gone, "game_short_name": "x"},
            "old": {"message": gone, "data": "1:cmd:map:"},  # too old to be told: the payload says all
        }
        for name, what in presses.items():
            place.world.queries[name] = Query(asyncio.get_running_loop().time())
            place.world.update(callback_query=what | {"id": name, "from": person, "chat_instance": "1"})
        await learner.until(lambda: not place.world.unanswered())
        await learner.sees("رقم الدرس أو اسمه")
        await bot.idle()
        assert len(learner.screen()) == 1


async def test_files_of_an_album_are_run_one_after_the_other(place: Place) -> None:
    runner = InstantRunner()
    async with place.bot(runner) as bot:
        learner = place.person()
        for number in range(2):  # so many may run at once
            learner.upload(f"\u202ea{number}.py", f"print({number})".encode())
        await learner.until(lambda: len(runner.submitted) == 2)
        await bot.idle()
        assert [job.source.strip() for job in runner.submitted] == [f"print({n})" for n in range(2)]
        assert "\u202e" not in learner.reads()


async def test_a_reply_that_was_deleted_while_it_waits_for_a_press_is_no_fault(place: Place) -> None:
    async with place.bot() as bot:
        learner = place.person()
        learner.send("اختبار")
        await learner.sees("أي صيغة أسرع")
        question = learner.screen()[-1]
        del place.world.notes[7, question.id]
        press = learner.press_at(question, question.keyboard[0][0]["callback_data"])
        await learner.until(lambda: place.world.queries[press].answered)
        await learner.until(lambda: "التلميح" in learner.reads() or "لأن الحلقة" in learner.reads())
        await bot.idle()
    place.world.refusals.clear()


Step = tuple[Callable[[Person], object], str]
STEPS: tuple[Step, ...] = (
    (lambda one: one.send("/start"), "أهلًا وسهلًا"),
    (lambda one: one.send("درس 1"), "ملخص الدرس"),
    (lambda one: one.send("اختبار"), "أي صيغة أسرع"),
    (lambda one: one.press("المصفوفة"), "لأن الحلقة في لغة"),
    (lambda one: one.send("بطاقات"), "وجه"),
    (lambda one: one.send("خرافات"), "ادعاء"),
    (lambda one: one.send("```python\nprint(1)\n```"), "انتهى التشغيل بنجاح"),
    (lambda one: one.upload("b.py", b"print(2)"), "b.py"),
    (lambda one: one.send("تمرين 1"), "مجموع المربعات"),
    (lambda one: one.send("/privacy"), "ما الذي يُحفظ"),
    (lambda one: one.send("/export"), "هذه نسخة من كل ما هو محفوظ"),
)


async def test_a_restart_in_the_middle_of_each_step_loses_and_doubles_nothing(place: Place) -> None:
    learner = place.person()
    for number, (step, said) in enumerate(STEPS):
        before = shown(learner, said)
        async with place.bot():
            step(learner)
            await asyncio.sleep(0.02 * (number % 4))
        async with place.bot() as bot:
            await learner.until(lambda said=said, before=before: shown(learner, said) > before)  # type: ignore[misc]
            await bot.idle()
            assert shown(learner, said) == before + 1, said
    # What was acknowledged before the restart is so once more after it, which the platform refuses.
    place.world.refusals = [one for one in place.world.refusals if "query is too old" not in one]


def shown(learner: Person, said: str) -> int:
    return sum(said in seen(note.text + note.name) for note in learner.screen())
