"""The page for teachers: its ten steps, done in order on a copy of the project, as a teacher would do them."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from content import beginning, loader, table

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FENCES = re.findall(r"^```(sh[a-z ]*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Copy what the commands need; the environments are the project's own."""
    copy = tmp_path / "project"
    for folder in (tmp_path, *tmp_path.parents):  # the walls' users look in from outside
        if folder.stat().st_uid == os.getuid() and folder != Path("/tmp"):  # noqa: S108 - where pytest's folders end
            folder.chmod(0o755)
    kept = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in ("bot", "content", "sandbox_runner"):
        shutil.copytree(ROOT / name, copy / name, ignore=kept)
    for name in ("README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, copy / name)
    (copy / ".venv").symlink_to(ROOT / ".venv")
    return copy


def environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TASREE_")}
    # By its own path, which every user may walk; pytest's folders are closed to the walls' users.
    python = os.environ.get("TASREE_SANDBOX_PYTHON") or str(ROOT / ".venv-learners" / "bin" / "python")
    return kept | {"TMPDIR": str(folder), "TASREE_DATA": str(folder / "data"), "TASREE_SANDBOX_PYTHON": python}


def run(text: str, project: Path) -> subprocess.CompletedProcess[str]:
    started = subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", text],
        cwd=project,
        env=environment(project.parent),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        printed, told = started.communicate(timeout=300)
    except BaseException:  # a test that is stopped stops all that it started
        os.killpg(started.pid, signal.SIGKILL)
        raise
    return subprocess.CompletedProcess(text, started.returncode, printed, told)


def written(project: Path) -> None:
    """Write the lesson as a teacher would: every text its own, all code changed."""
    folder = project / "content" / "lessons" / "my-lesson"
    lesson = folder / "lesson.yaml"
    lesson.write_text(lesson.read_text(encoding="utf-8").replace(f"{beginning.MARK} ", ""), encoding="utf-8")
    for name in beginning.FILES:
        if name.endswith(".py"):
            path = folder / name
            path.write_text(path.read_text(encoding="utf-8") + "\n# mine\n", encoding="utf-8")


def test_the_page_has_ten_steps_and_commands_of_known_kinds() -> None:
    assert re.findall(r"^### (\d+)\.", PAGE, re.MULTILINE) == [str(number) for number in range(1, 11)]
    assert {info for info, _ in FENCES} == {"sh", "sh setup", "sh todo", "sh serve"}
    assert [text for info, text in FENCES if info == "sh setup"] == ["make setup\n"]  # test_setup.py tries it


@pytest.mark.sandbox
@pytest.mark.timeout(400)
def test_the_ten_steps_lead_from_nothing_to_a_checked_lesson(project: Path) -> None:
    for info, text in FENCES:
        if info == "sh todo":
            ended = run(text, project)
            assert ended.returncode == 1
            assert "lessons/my-lesson/lesson.yaml:5: title: still to write; عنوان الدرس" in ended.stdout
            assert "9 lesson(s), no fault" in ended.stdout
            written(project)
        elif info == "sh":
            ended = run(text, project)
            assert ended.returncode == 0, text + ended.stdout[-3000:] + ended.stderr[-3000:]
        elif info == "sh serve":
            serves(text, project)
    assert "`my-lesson`" in (project / "README.md").read_text(encoding="utf-8")
    assert not (ROOT / "content" / "lessons" / "my-lesson").exists()


def serves(text: str, project: Path) -> None:
    server = subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", f"exec {text}"],
        cwd=project,
        env=environment(project.parent),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert server.stdout is not None
        assert "http://127.0.0.1:" in server.stdout.readline()
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)
    finally:
        server.kill()
        server.wait()


def test_the_readmes_table_of_lessons_is_todays() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    said = "run `.venv/bin/python -m content table --into README.md`"
    assert table.put(readme, table.table(loader.load_course())) == readme, said
