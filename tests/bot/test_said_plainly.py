"""What a newcomer stumbled over: blank texts, stops that stay, signs nobody sees, exits, limits said twice."""

from bot.engine import code
from bot.engine.events import ButtonPressed, CodeSent, FileSent, TextSent
from bot.engine.replies import Choices
from bot.testing import Conversation
from sandbox_runner.protocol import Ending, Fault, Flag, Job, Note, Result


def test_a_text_of_invisible_marks_gets_a_sentence_without_a_hole(talk: Conversation) -> None:
    for text in ("\u200b\u200f", " \ufeff ", ""):
        assert "ليس فيها ما يُقرأ" in str(talk.take(TextSent(text)))


def test_a_stop_is_said_in_the_runs_own_reply_and_the_end_takes_its_place(talk: Conversation) -> None:
    said = talk.take(CodeSent("print(1)"))
    stop = next(c.payload for r in said for b in r.blocks if isinstance(b, Choices) for c in b.choices)
    before = len(talk.store._chats[talk.chat].shown)
    assert "يجري الإيقاف" in str(talk.take(ButtonPressed(stop)))
    talk.finish(lambda job: Result(job.id, job.kind, Ending.CANCELLED))
    shown = talk.store._chats[talk.chat].shown
    assert len(shown) == before
    assert "يجري الإيقاف" not in str(shown)


def test_marks_that_nobody_sees_are_drawn_in_a_shown_difference() -> None:
    shown, kinds = code.drawn("-x\u00a0= 1\n+x = 1\n-\ty\n z\t")
    assert shown == "-x␣= 1\n+x = 1\n-→y\n z\t"
    assert kinds == ("space", "tab")


def test_an_exit_says_its_code_and_advises_on_what_was_called(talk: Conversation) -> None:
    def left(ending: Ending, last: str) -> str:
        talk.take(CodeSent("import sys\nsys.exit(3)"))

        def ended(job: Job) -> Result:
            return Result(job.id, job.kind, ending, fault=Fault("SystemExit", last, 2))

        return str(talk.finish(ended))

    assert "برمز الخروج" in left(Ending.EXIT_NONZERO, "SystemExit: 3")
    assert "os._exit" not in left(Ending.NO_RESULT, "SystemExit")


def test_a_too_large_file_is_told_the_limit_that_code_has_to_keep(talk: Conversation) -> None:
    assert "100,000" in str(talk.take(FileSent("big.py", b"x" * (1 << 20))))
    assert "100,000" in str(talk.take(FileSent("big.ipynb", b"x" * (1 << 20))))


def test_an_unknown_note_or_flag_shows_no_raw_code(talk: Conversation) -> None:
    talk.take(CodeSent("print(1)"))
    said = talk.finish(
        lambda job: Result(job.id, job.kind, Ending.OK, notes=(Note("strange_note"),), flags=(Flag("strange_flag"),))
    )
    assert "strange" not in str(said)


def test_a_lone_division_is_code(talk: Conversation) -> None:
    talk.take(TextSent("1/0"))
    assert [job.source for job in talk.waiting] == ["1/0"]
