"""`bot doctor` with a runner of its own that is really started: the whole way, walls and all."""

import asyncio
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.sandbox
async def test_doctor_starts_a_runner_asks_it_and_ends_it(tmp_path: Path, app_python: Path) -> None:
    asked = await asyncio.create_subprocess_exec(
        app_python, "-m", "bot", "doctor", "--json",
        cwd=ROOT,
        env={
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "TASREE_DATA": str(tmp_path / "data"),
            "TASREE_WEB_PORT": "0",
            "TASREE_RUNNER_LOCK": str(tmp_path / "lock"),
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await asked.communicate()
    told = json.loads(out)
    seen = {each["thing"]: each for each in told["findings"] if each["state"] == "ok"}
    assert told["ok"], out.decode()
    assert seen["runner"]["seen"].startswith("answers: ")
    assert "walls" in seen
    assert asked.returncode == 0
    assert b'"event": "stopped"' in err
    assert not (tmp_path / "data").exists()
