"""The bot on Telegram over real HTTP, against the strict stand-in for the Bot API."""

import asyncio
import itertools
import json
import logging
from collections.abc import Callable

import pytest
from aiohttp import ClientSession
from botapi.person import seen
from botapi.place import Place
from botapi.world import Fault, Note

from bot.adapters.telegram import serve, webhook
from bot.adapters.telegram.hearing import PLATFORM
from bot.masking import Masking
from bot.posting.ports import State
from bot.testing import InstantRunner
from sandbox_runner.protocol import Ending, Job, Result, Stream

LONG_CODE = "total = 0\n" + "".join(f"total += {i}  # السطر رقم {i} من كود طويل يُلصق في الدردشة\n" for i in range(160))


def told(notes: list[Note]) -> str:
    return "\n".join(seen(note.text) for note in notes)


def failing(method: str, *faults: Fault) -> Callable[[str, dict[str, object]], Fault | None]:
    """Let the next calls of a method fail, each in its way."""
    left = list(faults)

    def trouble(called: str, _: dict[str, object]) -> Fault | None:
        return left.pop(0) if called == method and left else None

    return trouble


def answered(text: str) -> InstantRunner:
    return InstantRunner(lambda job: Result(job.id, job.kind, Ending.OK, stdout=Stream(text, bytes=len(text))))


async def test_a_new_learner_is_greeted_with_buttons_and_a_press_is_acknowledged(place: Place) -> None:
    async with place.bot() as bot:
        learner = place.person()
        learner.send("/start")
        await learner.sees("أهلًا وسهلًا")
        press = learner.press(learner.labels()[0])
        await learner.sees("درس صغير")
        await bot.idle()
        assert place.world.queries[press].answered


async def test_the_commands_are_named_in_arabic_and_stand_behind_the_menu_button(place: Place) -> None:
    async with place.bot():
        await place.person().until(lambda: "menu_button" in place.world.told)
        listed = place.world.told["commands"]
        assert listed["ar"] == listed[""]
        assert {"start", "help", "quiz", "cancel", "privacy"} <= {one["command"] for one in listed["ar"]}
    place.world.calls.clear()
    async with place.bot():
        await place.person().until(lambda: any(call[1] == "setChatMenuButton" for call in place.world.calls))
        assert not [call for call in place.world.calls if call[1] == "setMyCommands"]


async def test_deep_links_lead_to_a_lesson_a_section_and_a_question(place: Place) -> None:
    async with place.bot():
        for user, (link, text) in enumerate(
            {
                "lesson-second": "درس ثان",
                "section-arrays": "المصفوفات السريعة",
                "item-item-number": "ما أكبر عدد في",
                "lesson-../../etc": "أهلًا وسهلًا",
                "nothing_here": "أهلًا وسهلًا",
            }.items(),
            50,
        ):
            learner = place.person(user)
            learner.send(f"/start {link}")
            await learner.sees(text)


async def test_an_update_delivered_twice_is_answered_once(place: Place) -> None:
    async with place.bot() as bot:
        learner = place.person()
        learner.send("خريطة")
        await learner.sees("رقم الدرس أو اسمه")
        learner.send("الجهاز")
        await learner.until(lambda: len(learner.screen()) == 2)
        place.world.deliver_again(2)
        learner.send("ضضض")
        await learner.until(lambda: len(learner.screen()) == 3)
        await bot.idle()
        assert len(learner.screen()) == 3


async def test_what_a_learner_sends_at_once_is_answered_in_order(place: Place) -> None:
    async with place.bot() as bot:
        learners = [place.person(user) for user in range(20, 25)]
        for number in range(5):
            for learner in learners:
                learner.send(f"ضضض{number}")
        for learner in learners:
            await learner.sees("ضضض4")
        await bot.idle()
        for learner in learners:
            shown = [number for note in learner.screen() for number in range(5) if f"ضضض{number}" in note.text]
            assert shown == [0, 1, 2, 3, 4]


async def test_thirty_learners_press_at_once(place: Place) -> None:
    async with place.bot() as bot:
        learners = [place.person(user) for user in range(100, 130)]
        for learner in learners:
            learner.send("اختبار")
        for learner in learners:
            await learner.sees("أي صيغة أسرع")
        for learner in learners:
            learner.press("المصفوفة")
        for learner in learners:
            await learner.sees("لأن الحلقة في لغة")
        await bot.idle()


async def test_a_forged_and_an_old_press_are_answered_kindly(place: Place) -> None:
    async with place.bot() as bot:
        learner = place.person()
        learner.send("خريطة")
        await learner.sees("رقم الدرس أو اسمه")
        under = learner.screen()[0]
        for payload in (
            "1:ans:zzz:a",
            "9:hack:\u202e:x",
            "1:resend:999:",
            "1:resend:x",
            "1:resend:²:",
            f"1:resend:{10**50}:",
            "\ud800" * 9,
        ):
            before = len(learner.screen())
            learner.press_at(under, payload)
            await learner.until(lambda before=before: len(learner.screen()) > before)  # type: ignore[misc]
        old = learner.press("درس ثان", at=asyncio.get_running_loop().time() - 60)
        await learner.sees("ملخص الدرس")
        await bot.idle()
        place.world.queries[old].answered = True  # it was too late to be acknowledged, and counted all the same
        place.world.refusals = [one for one in place.world.refusals if "query is too old" not in one]


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ({"sticker": {"file_id": "s", "file_unique_id": "s", "type": "regular", "width": 1, "height": 1,
                      "is_animated": False, "is_video": False}}, "ملصق"),
        ({"voice": {"file_id": "v", "file_unique_id": "v", "duration": 3}}, "تسجيل صوتي"),
        ({"location": {"latitude": 1.0, "longitude": 2.0}}, "موقع"),
        ({"photo": [{"file_id": "p", "file_unique_id": "p", "width": 9, "height": 9}], "caption": "كود"}, "صورة"),
        ({"contact": {"phone_number": "1", "first_name": "\u202ex"}}, "لا يُقرأ"),
        ({"document": {"file_id": "d", "file_unique_id": "d", "file_size": 1 << 30, "file_name": "a.py"}}, "أكبر مما"),
    ],
)  # fmt: skip
async def test_what_cannot_be_read_gets_a_sentence(place: Place, what: dict[str, object], sentence: str) -> None:
    async with place.bot():
        learner = place.person()
        learner.odd(**what)
        await learner.sees(sentence)


async def test_what_is_not_for_us_changes_nothing(place: Place) -> None:
    async with place.bot() as bot:
        learner = place.person()
        channel = {"id": -1, "type": "channel", "title": "x"}
        place.world.update(channel_post={"message_id": 1, "date": 1, "chat": channel, "text": "/start"})
        place.world.update(inline_query={"id": "1", "from": {"id": 7, "is_bot": False, "first_name": "x"}, "query": "",
                                         "offset": ""})  # fmt: skip
        robot = {"id": 99, "is_bot": True, "first_name": "x"}
        place.world.update(message={"message_id": 1, "date": 1, "chat": {"id": 99, "type": "private"}, "from": robot,
                                    "text": "/start"})  # fmt: skip
        learner.odd(new_chat_title="x")
        learner.send("خريطة")
        await learner.sees("رقم الدرس أو اسمه")
        await bot.idle()
        assert len(learner.screen()) == 1
        assert not place.world.of_bot(99)


# --- code -------------------------------------------------------------------------------------------------------------


async def test_code_at_an_official_client_runs_and_its_reply_is_edited(place: Place) -> None:
    async with place.bot() as bot:
        learner = place.person()
        learner.send_code("print('hi')", before="شغّل هذا\n")
        await learner.sees("انتهى التشغيل بنجاح")
        await bot.idle()
        (note,) = learner.screen()
        assert len(note.versions) >= 2
        assert not any("إيقاف" in label for label in learner.labels())


async def test_a_paste_that_the_client_cut_is_joined(place: Place) -> None:
    runner = InstantRunner()
    async with place.bot(runner):
        learner = place.person()
        assert len(learner.paste(f"```python\n{LONG_CODE}```")) > 1
        await learner.sees("انتهى التشغيل بنجاح")
        assert runner.submitted[0].source.count("total +=") == 160
        learner.send("خريطة")
        await learner.sees("رقم الدرس أو اسمه")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.py", b"\tprint(1)\r\n".lstrip()),
        ("message.txt", "print('سلام')\n".encode()),
        ("n.ipynb", json.dumps({"cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "source": "print(2)"}],
                                "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()),
    ],
)  # fmt: skip
async def test_an_upload_runs(place: Place, name: str, data: bytes) -> None:
    runner = InstantRunner()
    async with place.bot(runner):
        learner = place.person()
        learner.upload(name, data)
        await learner.sees("انتهى التشغيل بنجاح")
        assert "print" in runner.submitted[0].source


async def test_an_upload_that_cannot_be_downloaded_says_so(place: Place) -> None:
    place.world.trouble = failing("getFile", *[Fault.GATEWAY] * 3)
    async with place.bot():
        learner = place.person()
        learner.upload("a.py", b"print(1)")
        await learner.sees("تعذّر تنزيل الملف")


async def test_a_caption_may_ask_for_the_time_of_an_upload(place: Place) -> None:
    runner = InstantRunner()
    async with place.bot(runner):
        place.person().upload("a.py", b"print(1)", caption="قياس زمن هذا")
        await place.person().until(lambda: bool(runner.submitted))
        assert runner.submitted[0].kind.value == "time"


async def test_editing_code_runs_it_again_in_the_place_of_the_old_reply(place: Place) -> None:
    runner = InstantRunner()
    async with place.bot(runner) as bot:
        learner = place.person()
        written = learner.send("```python\nprint(1)\n```")
        await learner.sees("انتهى التشغيل بنجاح")
        (old,) = learner.screen()
        learner.edit(written, "```python\nprint(2)\n```")
        await learner.until(lambda: len(runner.submitted) == 2)
        await bot.idle()
        (new,) = learner.screen()
        assert (new.id > old.id, runner.submitted[1].source.strip()) == (True, "print(2)")
        talk = learner.send("خريطة")
        await learner.sees("رقم الدرس أو اسمه")
        learner.edit(talk, "الخصوصية")
        learner.send("الجهاز")
        await learner.until(lambda: len(learner.screen()) == 3)
        assert "ما الذي يُحفظ" not in learner.reads()


async def test_output_too_long_for_the_chat_comes_as_a_file(place: Place) -> None:
    output = "\n".join(f"line {i}" for i in range(1500))
    async with place.bot(answered(output)) as bot:
        learner = place.person()
        learner.send_code("print('much')")
        await learner.until(lambda: any(note.kind == "document" for note in learner.screen()))
        await bot.idle()
        assert learner.screen()[-1].keyboard


# --- groups -----------------------------------------------------------------------------------------------------------


async def test_in_a_group_only_what_is_said_to_the_bot_is_answered_there(place: Place) -> None:
    async with place.bot() as bot:
        one, other = place.person(7, -1001), place.person(8, -1001, thread=5)
        one.send("خريطة")
        one.send("/map@another_bot")
        asked = other.send("/map@tasree_bot")
        await other.sees("رقم الدرس أو اسمه")
        await bot.idle()
        (note,) = one.screen()
        assert (note.thread, note.answers) == (5, asked)
        one.send("@tasree_bot الجهاز")
        await one.until(lambda: len(one.screen()) == 2)
        one.send("أين كنت", answers=one.screen()[1].id)
        await one.until(lambda: len(one.screen()) == 3)


async def test_in_a_group_ones_question_is_not_answered_by_another(place: Place) -> None:
    async with place.bot() as bot:
        one, other = place.person(7, -1001), place.person(8, -1001)
        one.send("/quiz")
        await one.sees("أي صيغة أسرع")
        press = other.press("المصفوفة")
        await other.until(lambda: place.world.queries[press].answered)
        assert "متعلّم آخر" in seen(place.world.queries[press].text)
        assert "لأن الحلقة" not in one.reads()
        one.press("المصفوفة")
        await one.sees("لأن الحلقة")
        await bot.idle()


async def test_in_a_group_somebodys_code_is_run_by_answering_it(place: Place) -> None:
    runner = InstantRunner()
    async with place.bot(runner):
        one, other = place.person(7, -1001), place.person(8, -1001)
        plain = one.send("x = [i for i in range(3)]\nprint(x)")
        other.send("/run", answers=plain)
        await other.until(lambda: len(runner.submitted) == 1)
        marked = one.send_code("print('marked')", before="انظروا: ")
        other.send("/time@tasree_bot", answers=marked)
        await other.until(lambda: len(runner.submitted) == 2)
        assert [job.kind.value for job in runner.submitted] == ["run", "time"]
        assert "marked" in runner.submitted[1].source
        assert runner.submitted[0].learner == runner.submitted[1].learner


async def test_a_learner_is_the_same_one_in_a_group(place: Place) -> None:
    runner = InstantRunner()
    async with place.bot(runner):
        private, group = place.person(7), place.person(7, -1001)
        private.send_code("print(1)")
        await private.sees("انتهى التشغيل")
        group.send("```python\nprint(2)\n```\n@tasree_bot")
        await group.sees("انتهى التشغيل")
        assert len({job.learner for job in runner.submitted}) == 1


async def test_a_group_that_becomes_a_supergroup_keeps_its_learners_places(place: Place) -> None:
    async with place.bot() as bot:
        before = place.person(7, -55)
        before.send("/quiz")
        await before.sees("أي صيغة أسرع")
        await bot.idle()
        place.world.becomes_supergroup(-55, -100_55, member=7)
        after = place.person(7, -100_55)
        after.send("/where@tasree_bot")
        await after.sees("لم ينتهِ بعد")


# --- what goes wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [Fault.SILENT_AFTER, Fault.RESET_AFTER, Fault.GATEWAY_AFTER])
async def test_a_reply_that_may_have_arrived_is_not_sent_again_but_offered(place: Place, fault: Fault) -> None:
    place.world.trouble = failing("sendMessage", fault)
    async with place.bot(read_s=0.3) as bot:
        learner = place.person()
        learner.send("خريطة")
        await learner.sees("انقطع الاتصال")
        await bot.idle()
        assert told(learner.screen()).count("رقم الدرس أو اسمه") == 1
        learner.press("عرض الرد من جديد")
        await learner.until(lambda: told(learner.screen()).count("رقم الدرس أو اسمه") == 2)
        learner.press("عرض الرد من جديد")
        await learner.sees("لم يتغيّر شيء")
        await bot.idle()


@pytest.mark.parametrize("fault", [Fault.SILENT_BEFORE, Fault.RESET_BEFORE, Fault.GATEWAY])
async def test_a_reply_that_was_lost_is_offered_too(place: Place, fault: Fault) -> None:
    place.world.trouble = failing("sendMessage", fault)
    async with place.bot(read_s=0.3):
        learner = place.person()
        learner.send("خريطة")
        await learner.sees("انقطع الاتصال")
        assert "رقم الدرس أو اسمه" not in learner.reads()
        learner.press("عرض الرد من جديد")
        await learner.sees("رقم الدرس أو اسمه")


async def test_a_lost_edit_is_made_again(place: Place) -> None:
    place.world.trouble = failing("editMessageText", Fault.SILENT_AFTER, Fault.GATEWAY, Fault.RESET_BEFORE)
    async with place.bot(read_s=0.2) as bot:
        learner = place.person()
        learner.send_code("print(1)")
        await learner.sees("انتهى التشغيل بنجاح")
        await bot.idle()
        assert len(learner.screen()) == 1
    place.world.refusals = [one for one in place.world.refusals if "not modified" not in one]


async def test_too_many_calls_stop_one_chat_and_no_other(place: Place) -> None:
    def trouble(method: str, call: dict[str, object]) -> Fault | None:
        return Fault.TOO_MANY if call.get("chat_id") == 7 and not quick.screen() else None

    slow, quick = place.person(7), place.person(8)
    place.world.trouble = trouble
    async with place.bot():
        slow.send("خريطة")
        await slow.until(lambda: any(call == "sendMessage" or True for _, call, _ in place.world.calls))
        quick.send("خريطة")
        await quick.sees("رقم الدرس أو اسمه")
        await slow.sees("رقم الدرس أو اسمه")
        assert len(slow.screen()) == 1


async def test_a_learner_who_blocked_the_bot_is_left_alone_until_they_return(place: Place) -> None:
    async with place.bot() as bot:
        learner = place.person()
        place.world.blocked.add(7)
        learner.send("خريطة")
        await learner.until(lambda: ("sendMessage", 7) in [call[1:] for call in place.world.calls])
        await bot.idle()
        tries = len(place.world.calls)
        row = await bot.app.enter(PLATFORM, "7", greet=False)
        box = await bot.store.outbox().mailbox(row.id)
        assert box is not None
        assert box.silent
        assert [one.state for one in await bot.store.outbox().parts(row.id, 1)] == [State.REFUSED]
        assert [call for call in place.world.calls[tries:] if call[1] == "sendMessage"] == []
        place.world.blocked.clear()
        learner.send("الجهاز")
        await learner.sees("يُشغَّل")
        assert "رقم الدرس أو اسمه" not in learner.reads()


async def test_the_end_of_a_run_whose_reply_was_deleted_is_told_anew(place: Place) -> None:
    runner = Held()
    async with place.bot(runner):
        learner = place.person()
        learner.send_code("print(1)")
        await learner.sees("أُرسل إلى")
        await learner.until(lambda: bool(runner.held))
        for note in learner.screen():
            del place.world.notes[7, note.id]
        runner.go.set()
        await learner.sees("انتهى التشغيل بنجاح")
    place.world.refusals.clear()


class Held(InstantRunner):
    """Holds each job until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()
        self.held: list[Job] = []

    async def submit(self, job: Job):  # type: ignore[no-untyped-def]  # noqa: ANN201 - as the class above
        self.held.append(job)
        await self.go.wait()
        async for event in super().submit(job):
            yield event


async def test_edits_of_one_reply_keep_their_distance(place: Place) -> None:
    async with place.bot(edit_every_s=0.4) as bot:
        learner = place.person()
        learner.send_code("print(1)")
        await learner.sees("انتهى التشغيل بنجاح")
        await bot.idle()
        (note,) = learner.screen()
        edits = note.times[1:]
        assert all(later - sooner >= 0.35 for sooner, later in itertools.pairwise(edits))


async def test_the_commands_of_a_second_program_are_told_apart_from_ours(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    async with place.bot(), ClientSession() as session:
        learner = place.person()
        learner.send("خريطة")
        await learner.sees("رقم الدرس أو اسمه")
        url = f"{place.server.url}/bot{place.world.token}/getUpdates"
        async with session.post(url, data={"timeout": "0"}) as answer:
            assert answer.status == 200
        await learner.until(lambda: "another program polls" in caplog.text)
        learner.send("الجهاز")
        await learner.sees("يُشغَّل")


async def test_a_start_after_a_stop_answers_what_came_meanwhile_and_repeats_nothing(place: Place) -> None:
    learner = place.person()
    async with place.bot():
        learner.send("خريطة")
        await learner.sees("رقم الدرس أو اسمه")
    learner.send("الجهاز")
    async with place.bot() as bot:
        await learner.sees("يُشغَّل")
        await bot.idle()
        assert len(learner.screen()) == 2


# --- the webhook, the token -------------------------------------------------------------------------------------------


async def test_a_webhook_takes_only_what_brings_its_secret(place: Place) -> None:
    taken: list[int] = []

    async def take_in(updates: object) -> None:
        taken.extend(update["update_id"] for update in updates)  # type: ignore[attr-defined]

    async with place.bot() as _:
        chat = serve.TelegramChat(serve.TelegramSettings(place.world.token, place.server.url), place.course)
        await chat.bot.initialize()
        hook = webhook.Webhook("https://bot.example/hook", "127.0.0.1", 0, serve.secret(b"k" * 32))
        async with webhook.listening(chat.bot, take_in, hook, ["message"]) as port, ClientSession() as session:
            assert place.world.webhook["url"] == hook.url
            assert place.world.webhook["secret_token"] == hook.secret
            for secret, body, status in (
                ("", {"update_id": 1}, 403),
                ("wrong", {"update_id": 2}, 403),
                (hook.secret, {"update_id": 3}, 200),
                (hook.secret, ["no update"], 400),
            ):
                heads = {webhook.HEAD: secret}
                async with session.post(f"http://127.0.0.1:{port}/hook", json=body, headers=heads) as answer:
                    assert answer.status == status
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            head = f"POST /hook HTTP/1.0\r\n{webhook.HEAD}: ".encode()
            writer.write(head + b"\xff\xfe\r\nContent-Length: 2\r\n\r\n{}")  # bytes that are no text
            assert b" 403 " in await reader.readline()
            writer.close()
        place.world.webhook = {}
        await chat.bot.shutdown()
    assert taken == [3]


def test_a_token_in_a_record_or_a_traceback_becomes_stars() -> None:
    masking = Masking(logging.Formatter("%(message)s"), ("1234567:AAA", ""))
    try:
        raise ValueError("https://api/bot1234567:AAA/getMe")  # noqa: EM101, TRY301 - what a library says
    except ValueError as error:
        record = logging.LogRecord("x", 20, "f", 1, "POST %s", ("bot1234567:AAA",), (ValueError, error, None))
    assert "AAA" not in masking.format(record)
