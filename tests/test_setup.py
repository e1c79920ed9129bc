import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SETUP = ROOT / "deploy" / "setup"
NOBODY = 65_534


def without(folder: Path, *hidden: str) -> str:
    """Make a PATH that has every program of this host's but the hidden ones."""
    for place in ("/usr/sbin", "/usr/bin"):
        for program in Path(place).iterdir():
            link = folder / program.name
            if program.name not in hidden and not link.exists():
                link.symlink_to(program)
    return str(folder)


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """Copy the set-up's scripts to where every user may read them."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.getuid() and folder != Path("/tmp"):  # noqa: S108 - where pytest's folders end
            folder.chmod(0o755)
    return shutil.copytree(SETUP, tmp_path / "setup")


@pytest.mark.sandbox
def test_setting_up_a_second_time_does_and_says_nothing() -> None:
    stamps = sorted(ROOT.glob(".venv*/.stamp-*"))
    before = [(stamp, stamp.stat().st_mtime_ns) for stamp in stamps]
    ended = subprocess.run(
        ["make", "--no-print-directory", "setup"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert before == [(stamp, stamp.stat().st_mtime_ns) for stamp in stamps]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become nobody")
def test_an_ordinary_user_is_told_the_command_that_installs_what_is_missing(scripts: Path) -> None:
    path = scripts.parent / "bin"
    path.mkdir()
    ended = subprocess.run(
        ["bash", str(scripts / "packages.sh"), "test"],
        env={"PATH": without(path, "bwrap", "chromium")},
        user=NOBODY,
        group=NOBODY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert "apt-get install -y --no-install-recommends bubblewrap chromium" in ended.stderr
    assert "حزم ناقصة" in ended.stderr


@pytest.mark.sandbox
def test_a_host_that_has_the_packages_by_other_means_passes_without_apt(tmp_path: Path) -> None:
    ended = subprocess.run(
        ["bash", str(SETUP / "packages.sh"), "run"],
        env={"PATH": without(tmp_path, "apt-get", "apt-cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_python_that_is_too_old_is_refused_by_name(tmp_path: Path) -> None:
    old = tmp_path / "python3.10"
    old.write_text("#!/bin/sh\necho False /usr/bin/python3.10 3.10.13\n")
    old.chmod(0o755)
    ended = subprocess.run(
        ["bash", str(SETUP / "environments.sh"), "run"],
        cwd=tmp_path,
        env=os.environ | {"PYTHON": str(old)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert f"{old} is Python 3.10.13; Tasree needs 3.11 or newer." in ended.stderr
    assert not (tmp_path / ".venv").exists()


def test_a_python_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    ended = subprocess.run(
        ["bash", str(SETUP / "environments.sh"), "run"],
        cwd=tmp_path,
        env=os.environ | {"PYTHON": "python-of-nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert "python-of-nowhere cannot be run" in ended.stderr
    assert not (tmp_path / ".venv").exists()
