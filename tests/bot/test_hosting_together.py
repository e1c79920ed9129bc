"""Bots of several platforms share a folder, so that accounts can be joined; two of one platform do not."""

import subprocess
import sys
from pathlib import Path

import pytest

from bot import hosting
from bot.errors import SettingsError


def test_bots_of_two_platforms_share_a_folder(tmp_path: Path) -> None:
    with hosting.only_one(tmp_path, "telegram"), hosting.only_one(tmp_path, "discord"):
        with pytest.raises(SettingsError, match="another bot"), hosting.only_one(tmp_path, "discord"):
            pass
        with pytest.raises(SettingsError, match="another bot"), hosting.only_one(tmp_path):
            pass
    alone = hosting.only_one(tmp_path)
    with alone, pytest.raises(SettingsError, match="another bot"), hosting.only_one(tmp_path, "web"):
        pass


def test_programs_that_start_at_once_bring_the_database_up_one_after_the_other(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys, os; from pathlib import Path; from bot import hosting, settings\n"
        "hosting._migrated(settings.load({'TASREE_DATA': sys.argv[1]}))"
    )
    started = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path)]) for _ in range(3)]
    assert [each.wait(60) for each in started] == [0, 0, 0]
