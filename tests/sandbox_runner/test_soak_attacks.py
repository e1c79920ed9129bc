"""Every attack at full limits: against bubblewrap, cold and warm, against gVisor, and on an ordinary user's runner."""

import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import attack_data
import pytest

from sandbox_runner.protocol import Ending, JobKind, Limits

if TYPE_CHECKING:
    from conftest import OrdinaryUser, Walls, WarmWalls

pytestmark = [pytest.mark.soak, pytest.mark.sandbox]
FULL = Limits()

Record = Callable[[str, object], None]


def _run_on(way: str) -> list[dict[str, Any]]:
    return [attack for attack in attack_data.all_attacks() if attack_data.endings_of(attack, way)]


async def _try(walls: "Walls", attack: dict[str, Any], way: str, record: Record) -> None:
    limits = replace(FULL, **attack_data.at_full(attack, asdict(walls.small)))
    result = await walls.run(attack_data.source_of(attack), limits, JobKind(attack.get("kind", "run")))
    record("ending", result.ending.value)
    assert result.ending in attack_data.endings_of(attack, way), (result.fault, result.notes, result.stderr)
    assert walls.survivors() == []
    after = await walls.run("print('next')", FULL)
    assert (after.ending, after.stdout.head) == (Ending.OK, "next\n")


@pytest.mark.parametrize("attack", _run_on("bubblewrap"), ids=lambda attack: attack["id"])
async def test_an_attack_at_full_limits_gets_its_ending_under_bubblewrap(
    walls: "Walls", attack: dict[str, Any], record_property: Record
) -> None:
    await _try(walls, attack, "bubblewrap", record_property)


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("attack", _run_on("bubblewrap"), ids=lambda attack: attack["id"])
async def test_an_attack_at_full_limits_gets_its_ending_in_a_warm_child(
    warm: "WarmWalls", attack: dict[str, Any], record_property: Record
) -> None:
    await _try(warm, attack, "bubblewrap", record_property)


@pytest.mark.skipif(shutil.which("runsc") is None or os.geteuid() != 0, reason="sandbox: runsc and root are needed")
@pytest.mark.parametrize("attack", _run_on("runsc"), ids=lambda attack: attack["id"])
async def test_an_attack_at_full_limits_gets_its_ending_under_gvisor(
    gvisor: "Walls", attack: dict[str, Any], record_property: Record
) -> None:
    await _try(gvisor, attack, "runsc", record_property)


@pytest.fixture(scope="module")
def results(walls: "Walls", ordinary_user: "OrdinaryUser") -> dict[str, Any]:
    small = asdict(walls.small)
    attacks = [attack | {"limits": attack_data.at_full(attack, small)} for attack in _run_on("ordinary_user")]
    found = {one["job_id"]: one for one in ordinary_user.run(attacks, FULL, probe=False, seconds=3600)}
    return found | {"": ordinary_user.left()}


@pytest.mark.parametrize("attack", _run_on("ordinary_user"), ids=lambda attack: attack["id"])
def test_an_attack_at_full_limits_gets_its_ending_on_an_ordinary_users_runner(
    results: dict[str, Any], attack: dict[str, Any], record_property: Record
) -> None:
    result = results[attack["id"]]
    record_property("ending", result["ending"])
    endings = attack_data.endings_of(attack, "ordinary_user")
    assert result["ending"] in endings, (result["fault"], result["notes"], result["stderr"])


def test_an_ordinary_users_runner_leaves_no_process(results: dict[str, Any]) -> None:
    assert results[""] == []
