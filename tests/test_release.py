"""deploy/release.sh on a checkout of two releases: a backup before, the old one where the new is unfit, and back."""

import contextlib
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.settings import installation_key
from bot.stores import revisions
from bot.stores.revisions import of_file

ROOT = Path(__file__).resolve().parent.parent
OLD_DATABASE = ROOT / "tests" / "bot" / "releases" / "r0001.sql"
SCRIPTS = sorted((ROOT / "deploy").rglob("*.sh"))


@dataclass
class Checkout:
    """A folder with two releases: this one, and one that is called the next; and one bot's data of an old revision."""

    folder: Path
    data: Path
    journal: Path
    settings: dict[str, str] = field(default_factory=dict)

    def git(self, *words: str) -> str:
        ended = subprocess.run(["git", *words], cwd=self.folder, capture_output=True, text=True, check=True)
        return ended.stdout.strip()

    def call(self, *words: str | Path, **settings: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "DATA": str(self.data),
            "BACKUPS": str(self.folder.parent / "backups"),
            "AS": "",
            "SETUP": f"echo setup >> {self.journal}",
            "PYTHON": sys.executable,
            "STOP": f"echo stop >> {self.journal}",
            "START": f"echo start >> {self.journal}",
            "TASREE_WEB_PORT": "0",
        }
        return subprocess.run(
            ["deploy/release.sh", *words],
            cwd=self.folder,
            env=environment | settings,
            capture_output=True,
            text=True,
            check=False,
        )

    def done(self) -> list[str]:
        return self.journal.read_text().split() if self.journal.exists() else []

    def backups(self) -> list[Path]:
        return sorted((self.folder.parent / "backups").glob("*.backup"))


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a repository whose second release differs by a file."""
    folder = tmp_path_factory.mktemp("releases") / "checkout"
    folder.mkdir()
    for name in ("bot", "content", "sandbox_runner", "deploy"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "secrets"))
    (folder / ".gitignore").write_text("__pycache__/\n")
    words = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "init.defaultBranch=main"]

    def git(*more: str) -> None:
        subprocess.run([*words, *more], cwd=folder, check=True, capture_output=True)

    git("init", "--quiet")
    for release in ("v1", "v2"):
        (folder / "RELEASE").write_text(release)
        git("add", "--all")
        git("commit", "--quiet", "--message", release)
        git("tag", release)
    git("checkout", "--quiet", "v1")
    return folder


@pytest.fixture
def checkout(releases: Path, tmp_path: Path) -> Checkout:
    data = tmp_path / "web"
    installation_key(data)
    with contextlib.closing(sqlite3.connect(data / "tasree.db")) as connection:
        connection.executescript(OLD_DATABASE.read_text("utf-8"))
    (data / "tasree.db").chmod(0o600)
    subprocess.run(["git", "clone", "--quiet", str(releases), str(tmp_path / "here")], check=True, capture_output=True)
    made = Checkout(tmp_path / "here", data, tmp_path / "journal")
    made.git("checkout", "--quiet", "v1")
    return made


def test_an_upgrade_keeps_a_backup_and_its_first_start_brings_the_database_up_and_a_rollback_undoes_both(
    checkout: Checkout,
) -> None:
    start = (
        f"echo start >> {checkout.journal}; TASREE_DATA={checkout.data} TASREE_RUNNER=embedded {sys.executable} -m bot"
    )
    ended = checkout.call("upgrade", "v2", START=f"{start} tick > /dev/null")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert checkout.done() == ["stop", "setup", "start"]
    assert (checkout.folder / "RELEASE").read_text() == "v2"
    (kept,) = checkout.backups()
    assert (kept.stat().st_mode & 0o777, kept.name.startswith("web-")) == (0o600, True)
    assert f"rollback {kept}" in ended.stdout
    database = checkout.data / "tasree.db"
    assert of_file(database).revision == revisions.known()[0] != "0001"
    ended = checkout.call("rollback", kept)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert checkout.done() == ["stop", "setup", "start", "stop", "setup", "start"]
    assert (checkout.folder / "RELEASE").read_text() == "v1"
    assert of_file(database).revision == "0001"
    (aside,) = checkout.data.glob("tasree.db.before-*")
    assert of_file(aside).revision == revisions.known()[0]


def test_a_release_that_cannot_be_set_up_is_left_and_the_old_one_serves_on(checkout: Checkout) -> None:
    setup = f"echo setup >> {checkout.journal}; grep -q v1 RELEASE"
    ended = checkout.call("upgrade", "v2", SETUP=setup)
    assert ended.returncode == 1
    assert checkout.done() == ["stop", "setup", "setup", "start"]
    assert (checkout.folder / "RELEASE").read_text() == "v1"
    assert "serves again" in ended.stdout
    assert of_file(checkout.data / "tasree.db").revision == "0001"


def test_without_a_backup_nothing_is_changed_and_what_ran_runs_on(checkout: Checkout) -> None:
    (checkout.data / "tasree.db").write_bytes(b"no database" * 400)
    ended = checkout.call("upgrade", "v2")
    assert ended.returncode == 1
    assert checkout.done() == ["stop", "start"]
    assert (checkout.folder / "RELEASE").read_text() == "v1"
    assert checkout.backups() == []


def test_a_rollback_with_a_damaged_backup_says_that_the_bots_stay_stopped(checkout: Checkout) -> None:
    release = checkout.git("rev-parse", "HEAD")
    damaged = checkout.folder.parent / f"web-20260101T000000-{release}.backup"
    damaged.write_text("no backup")
    ended = checkout.call("rollback", damaged)
    assert ended.returncode == 1
    assert "the bots stay stopped" in ended.stdout
    assert (checkout.data / "tasree.db").exists()


def test_calls_that_cannot_be_meant_change_nothing(checkout: Checkout) -> None:
    assert checkout.call().returncode == 2
    assert "no release here" in checkout.call("upgrade", "v9").stdout
    strange = checkout.folder.parent / "web-20260101T000000-0123456789.backup"
    strange.write_text("")
    assert "does not name a release" in checkout.call("rollback", strange).stdout
    assert "cannot be read" in checkout.call("rollback", checkout.folder / "none").stdout
    of_none = checkout.folder.parent / f"telegram-20260101T000000-{'0' * 40}.backup"
    of_none.write_text("")
    assert "is of none of the folders" in checkout.call("rollback", of_none).stdout
    for words in (("fly",), ("upgrade",), ("upgrade", "v1", "v2"), ("rollback",)):
        refused = checkout.call(*words)
        assert (refused.returncode, "release.sh upgrade RELEASE" in refused.stdout) == (2, True)
    (checkout.folder / "RELEASE").write_text("by hand")
    assert "changed by hand" in checkout.call("upgrade", "v2").stdout
    assert checkout.done() == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_the_linter_finds_no_fault_in_a_shell_script(script: Path) -> None:
    linter = Path(sys.executable).with_name("shellcheck")
    ended = subprocess.run([linter, "--severity=info", script], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
