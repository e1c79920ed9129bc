import itertools
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
FENCES = re.findall(r"^```(sh[a-z ]*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
THE_TWO = ["make run\n", "make test\n"]


def blocks(info: str) -> list[str]:
    return [text for given, text in FENCES if given == info]


def environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TASREE_")}
    return kept | {"TMPDIR": str(folder), "TASREE_DATA": str(folder / "data")}


def test_only_the_two_commands_are_left_out_of_what_is_run_here() -> None:
    assert blocks("sh two") == THE_TWO
    assert {info for info, _ in FENCES} == {"sh", "sh two", "sh serve"}


@pytest.mark.sandbox
@pytest.mark.parametrize("text", blocks("sh"), ids=lambda text: text.split("\n")[0][:60])
def test_every_command_of_the_readme_works_as_written(text: str, tmp_path: Path) -> None:
    ended = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        cwd=ROOT,
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.strip()
    assert "Traceback" not in ended.stderr


def _says_where(line: str, folder: Path) -> bool:
    return str(folder / "runner.sock") in line or "http://127.0.0.1:" in line


@pytest.mark.sandbox
@pytest.mark.parametrize("text", blocks("sh serve"), ids=lambda text: text.strip().split("\n")[-1][:60])
def test_a_server_of_the_readme_says_where_it_is_and_stops_at_ctrl_c(text: str, tmp_path: Path) -> None:
    server = subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", text],
        cwd=ROOT,
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert server.stdout is not None
        lines = itertools.takewhile(lambda line: not _says_where(line, tmp_path), server.stdout)
        before = "".join(itertools.islice(lines, 20))
        assert server.poll() is None, before
        server.send_signal(signal.SIGINT)
        said, _ = server.communicate(timeout=60)
    finally:
        server.kill()
        server.wait()
    assert server.returncode in {0, 128 + signal.SIGINT}, said
    assert "Traceback" not in said


def test_every_make_target_of_the_readme_exists() -> None:
    named = set(re.findall(r"`make ([a-z]+)", README)) | {"run", "test"}
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert named <= targets


def test_every_setting_stands_in_the_readme() -> None:
    for name in ("bot.env.example", "runner.env.example"):
        for setting in re.findall(r"^#?(TASREE_[A-Z_]+)=", (ROOT / "deploy" / name).read_text(), re.MULTILINE):
            assert f"`{setting}`" in README, setting


def test_every_file_that_the_readme_links_to_is_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).is_file(), target
