"""The shell chat, from arguments to printed replies, and through the real command."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from bot.adapters.shell.parse import NoSuchButtonError, parse
from bot.adapters.shell.render import plain
from bot.engine.events import ButtonPressed, FileSent, TextSent
from bot.engine.replies import Bullets, Choice, Choices, Code, Heading, Paragraph, Reply, Step, Steps, Strong, Text
from bot.ports import Shown

BUTTONS = (
    Shown(1, 1, "", Reply((Choices((Choice("قديم", "1:cmd:map:"),)),))),
    Shown(2, 2, "", Reply((Choices((Choice("التالي", "1:go:a.idea:"), Choice("السابق", "1:go:a.needs:"))),))),
)


def nothing(name: str) -> bytes:
    raise FileNotFoundError(name)


@pytest.mark.parametrize("argument", ["[2]", "[السابق]", "[1:go:a.needs:]"])
def test_a_bracketed_argument_presses_the_newest_buttons(argument: str) -> None:
    assert parse(argument, BUTTONS, nothing) == ButtonPressed("1:go:a.needs:")


def test_a_raw_payload_is_pressed_whatever_is_shown() -> None:
    assert parse("[1:ans:abc:x]", BUTTONS, nothing) == ButtonPressed("1:ans:abc:x")


def test_a_button_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(NoSuchButtonError, match=r"\[7\].*\[1\] التالي"):
        parse("[7]", BUTTONS, nothing)


def test_an_at_sign_uploads_a_file_by_its_bare_name() -> None:
    assert parse("@/some/where/code.py", (), lambda _: b"x") == FileSent("code.py", b"x")


def test_anything_else_is_text_as_it_stands() -> None:
    for text in ("مرحبا", "@", "[]", "x = [1]", ""):
        assert parse(text, BUTTONS, nothing) == TextSent(text)


def test_blocks_are_plain_text_and_buttons_are_numbered_through() -> None:
    reply = Reply(
        (
            Heading((Text("عنوان"),)),
            Paragraph((Text("نص "), Code("np.dot"), Strong(" مهم"))),
            Bullets(((Text("أول"),), (Text("ثان"),)), numbered=True),
            Steps((Step("قياس", "now", 3, 20),)),
            Choices((Choice("نعم", "1:cmd:a:"),)),
            Choices((Choice("لا", "1:cmd:b:"),)),
        )
    )
    assert plain(reply).split("\n\n") == [
        "# عنوان",
        "نص `np.dot`** مهم**",
        "1. أول\n2. ثان",
        "… قياس 3/20",
        "[1] نعم",
        "[2] لا",
    ]


def run(app_python: Path, data: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TASREE_DATA": str(data)}
    return subprocess.run(
        [app_python, "-m", "bot", *words], env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_a_conversation_goes_on_over_two_commands(app_python: Path, tmp_path: Path) -> None:
    first = run(app_python, tmp_path, "say", "--no-runner", "--json", "--as", "ali", "الدروس", "[1]", "[1]")
    assert first.returncode == 0, first.stderr
    said = [json.loads(line) for line in first.stdout.splitlines()]
    assert [one["said"] for one in said] == ["الدروس", "[1]", "[1]"]
    assert all(one["replies"] for one in said)
    again = run(app_python, tmp_path, "say", "--no-runner", "--as", "ali", "وين وصلت", "التالي")
    other = run(app_python, tmp_path, "say", "--no-runner", "--as", "mona", "وين وصلت")
    assert again.returncode == other.returncode == 0
    assert "1 من 15" in again.stdout or "1 من" in again.stdout
    assert "1 من 15" not in other.stdout


def test_wrong_words_are_named_and_nothing_is_said(app_python: Path, tmp_path: Path) -> None:
    pressed = run(app_python, tmp_path, "say", "--no-runner", "--as", "ali", "[99]")
    assert pressed.returncode == 1
    assert "[99]" in pressed.stderr
    lost = run(app_python, tmp_path, "say", "--no-runner", "--as", "ali", "@/no/such/file.py")
    assert lost.returncode == 1
    assert "/no/such/file.py" in lost.stderr
    assert run(app_python, tmp_path, "say", "hello").returncode == 2


def test_mistakes_of_the_environment_are_told_at_once(app_python: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "TASREE_DATA": str(tmp_path), "TASREE_WEB_PORT": "x", "TASREE_RUNNER": "y"}
    ended = subprocess.run(
        [app_python, "-m", "bot", "web"], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 1
    assert "TASREE_WEB_PORT=x" in ended.stderr
    assert "TASREE_RUNNER=y" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TASREE_RUNNER_SLOTS", "abc"),
        ("TASREE_SANDBOX_PYTHON", "/no/such/python"),
        ("TASREE_SANDBOX_KIND", "docker"),
        ("TASREE_DATA", "/etc/passwd"),
        ("TASREE_WEB_HOST", "192.0.2.1"),
    ],
)
def test_a_start_that_cannot_serve_stops_and_names_the_variable(
    app_python: Path, tmp_path: Path, name: str, value: str
) -> None:
    environment = {**os.environ, "TASREE_DATA": str(tmp_path), "TASREE_WEB_PORT": "0", name: value}
    ended = subprocess.run(
        [app_python, "-m", "bot", "web"], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 1
    assert name in ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""


@pytest.mark.parametrize("command", ["preview", "check"])
def test_a_lesson_that_is_not_there_is_refused_with_those_that_are(
    app_python: Path, tmp_path: Path, command: str
) -> None:
    ended = run(app_python, tmp_path, command, "nowhere")
    assert ended.returncode == 1
    assert "nowhere" in ended.stderr
    assert "vectorise" in ended.stderr


@pytest.mark.parametrize("text", ["nonsense", "2026-13-45", "2026-12-01T17:00"])
def test_a_time_that_is_none_is_refused_with_how_to_write_one(app_python: Path, tmp_path: Path, text: str) -> None:
    ended = run(app_python, tmp_path, "tick", "--at", text)
    assert ended.returncode == 2
    assert f"{text} " in ended.stderr
    assert "write 2026-12-01T17:00+03:00" in ended.stderr
    assert "_moment" not in ended.stderr
