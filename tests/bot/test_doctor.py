"""`bot doctor` on broken hosts: each fault is named with a next step, and nothing is changed."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot import doctor, hosting
from bot.doctor import examine
from bot.ports import Runner
from bot.settings import Settings, installation_key
from bot.stores import sqlite
from bot.testing import CAPABLE, InstantRunner
from content import loader
from content.faults import Fault
from content.schema import Course
from sandbox_runner.looking import Finding, State, as_text
from sandbox_runner.protocol import Capabilities, Wall
from tests.bot.databases import PostgresServer

ROOT = Path(__file__).resolve().parents[2]
READ: list[Course] = []
TOKEN = "123456789:" + "Ab3" * 12


def opening(able: Capabilities | None = CAPABLE) -> doctor.Opening:
    @asynccontextmanager
    async def opened(found: Settings, environment: Mapping[str, str]) -> AsyncIterator[Runner]:
        yield InstantRunner(capabilities=able)

    return opened


def free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Give a host on which all is well."""
    data = tmp_path / "data"
    installation_key(data)
    sqlite.migrate(data / "tasree.db")
    (data / "tasree.db").chmod(0o600)
    return {"TASREE_DATA": str(data), "TASREE_WEB_PORT": str(free_port())}


@pytest.fixture(autouse=True)
def read_once(own_course: Course) -> None:
    """Keep the course: reading it anew for each test takes seconds."""
    READ.append(own_course)


def survey(content: Path) -> tuple[Course | None, Sequence[Fault]]:
    return loader.survey(content) if content != ROOT / "content" else (READ[0], ())


async def told(
    environment: Mapping[str, str], able: Capabilities | None = CAPABLE, now: datetime | None = None
) -> list[Finding]:
    return await examine(environment, now or datetime.now(UTC), opening(able), survey)


def bad(findings: list[Finding]) -> list[Finding]:
    found = [each for each in findings if each.state is State.BAD]
    assert all(each.step for each in found)
    return found


async def test_nothing_is_wrong_on_a_host_that_is_well(environment: dict[str, str]) -> None:
    findings = await told(environment)
    assert bad(findings) == []
    assert {"settings", "data", "key", "database", "course", "disk", "clock", "serving", "runner", "walls"} <= {
        each.thing for each in findings if each.state is State.OK
    }


async def test_before_the_first_start_nothing_is_wrong_and_nothing_is_made(tmp_path: Path) -> None:
    data = tmp_path / "none"
    findings = await told({"TASREE_DATA": str(data), "TASREE_WEB_PORT": "0"})
    assert bad(findings) == []
    assert not data.exists()


async def test_every_mistake_of_the_settings_is_a_finding() -> None:
    findings = await told({"TASREE_WEB_PORT": "high", "TASREE_RUNNER": "somewhere"})
    assert [each.thing for each in bad(findings)] == ["settings"] * len(findings)
    assert len(findings) == 2


async def test_what_is_open_to_others_is_named_with_the_command_that_closes_it(environment: dict[str, str]) -> None:
    data = Path(environment["TASREE_DATA"])
    for path, mode in ((data, 0o755), (data / "key", 0o644), (data / "tasree.db", 0o640)):
        os.chmod(path, mode)  # noqa: PTH101 - as a person would, beside the loop
    steps = {each.step for each in bad(await told(environment))}
    assert steps == {f"chmod 700 {data}", f"chmod 600 {data / 'key'}", f"chmod 600 {data / 'tasree.db'}"}


@pytest.mark.parametrize("damage", ["gone", "short"])
async def test_a_key_that_is_gone_or_damaged_is_wrong(environment: dict[str, str], damage: str) -> None:
    key = Path(environment["TASREE_DATA"]) / "key"
    key.unlink() if damage == "gone" else key.write_bytes(b"short")
    assert [each.thing for each in bad(await told(environment))] == ["key"]
    assert key.exists() == (damage == "short")


@pytest.mark.parametrize("content", [b"no database at all, but long enough to be one" * 40, b""])
async def test_a_damaged_database_is_wrong_and_an_empty_one_is_not(environment: dict[str, str], content: bytes) -> None:
    path = Path(environment["TASREE_DATA"]) / "tasree.db"
    for left in path.parent.glob("tasree.db-*"):
        left.unlink()
    path.write_bytes(content)
    assert [each.thing for each in bad(await told(environment))] == (["database"] if content else [])
    assert path.read_bytes() == content


async def test_an_older_revision_is_a_note_and_a_strange_one_is_wrong() -> None:
    assert doctor._revision("b", ("b", "a")).state is State.OK
    assert doctor._revision("a", ("b", "a")).state is State.NOTE
    assert doctor._revision("z", ("b", "a")).state is State.BAD


async def test_faults_of_the_course_are_named(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "content").mkdir()
    (tmp_path / "content" / "course.yaml").write_text("lessons: [nothing]\n")
    findings = bad(await told(environment | {"TASREE_CONTENT": str(tmp_path / "content")}))
    assert {each.thing for each in findings} == {"course"}


async def test_a_token_is_judged_by_its_form_and_its_file_and_never_shown(
    environment: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o644)
    odd = {"TASREE_TELEGRAM_TOKEN_FILE": str(file), "TASREE_DISCORD_TOKEN": "Bot geheim"}
    findings = await told(environment | odd)
    assert [each.thing for each in bad(findings)] == ["telegram", "discord"]
    shown = as_text(findings)
    assert TOKEN not in shown
    assert "geheim" not in shown
    file.chmod(0o600)
    assert bad(await told(environment | {"TASREE_TELEGRAM_TOKEN_FILE": str(file)})) == []


async def test_a_clock_that_is_behind_what_was_written_is_wrong(environment: dict[str, str]) -> None:
    behind = datetime.now(UTC) - timedelta(days=400)
    assert [each.thing for each in bad(await told(environment, now=behind))] == ["clock"]


async def test_a_bot_that_serves_is_a_note_and_a_taken_port_is_wrong(environment: dict[str, str]) -> None:
    with hosting.only_one(Path(environment["TASREE_DATA"])):
        serving = next(each for each in await told(environment) if each.thing == "serving")
    assert serving.state is State.NOTE
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = environment | {"TASREE_WEB_PORT": str(other.getsockname()[1])}
        assert [each.thing for each in bad(await told(taken))] == ["serving"]


async def test_a_runner_that_is_away_is_wrong_and_so_is_a_missing_wall(environment: dict[str, str]) -> None:
    assert [each.thing for each in bad(await told(environment, None))] == ["runner"]
    walls = (Wall("network", stands=False, matters=True, detail="open", mend="as root: mend it"),)
    found = bad(await told(environment, replace(CAPABLE, walls=walls)))
    assert [(each.thing, each.step) for each in found] == [("walls", "as root: mend it")]
    accepted = replace(CAPABLE, walls=walls, accepted_missing=("network",))
    assert bad(await told(environment, accepted)) == []


async def test_a_server_that_is_away_is_wrong_and_its_password_is_not_shown(environment: dict[str, str]) -> None:
    away = {"TASREE_DATABASE": f"postgresql+asyncpg://tasree:geheim@127.0.0.1:{free_port()}/tasree"}
    findings = await told(environment | away)
    assert [each.thing for each in bad(findings)] == ["database"]
    assert "geheim" not in as_text(findings)


@pytest.mark.services
async def test_a_server_is_asked_for_its_revision_and_its_clock(
    environment: dict[str, str], postgres_server: PostgresServer
) -> None:
    there = {"TASREE_DATABASE": postgres_server.url("tasree")}
    assert bad(await told(environment | there)) == []
    nowhere = {"TASREE_DATABASE": postgres_server.url("nothing_of_this_name")}
    assert [each.thing for each in bad(await told(environment | nowhere))] == ["database"]


@pytest.mark.parametrize(("port", "status"), [("0", 0), ("many", 1)])
def test_the_command_says_by_its_status_whether_something_is_wrong(tmp_path: Path, port: str, status: int) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TASREE_")}
    ended = subprocess.run(
        [sys.executable, "-m", "bot", "doctor", "--json", "--no-runner"],
        cwd=ROOT,
        env=kept | {"TASREE_DATA": str(tmp_path / "data"), "TASREE_WEB_PORT": port},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == status, ended.stderr
    assert json.loads(ended.stdout)["ok"] is (status == 0)
