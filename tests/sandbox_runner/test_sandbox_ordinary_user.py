"""The same walls started by an ordinary user: user namespaces, no control group, the watchdog instead."""

import os
import subprocess
from typing import TYPE_CHECKING, Any

import attack_data
import pytest

if TYPE_CHECKING:
    from conftest import OrdinaryUser, Walls

pytestmark = pytest.mark.sandbox
ATTACKS: list[dict[str, Any]] = attack_data.named_attacks("ordinary_user.json")


WARM = """
import asyncio, sys
from sandbox_runner.sandbox.bubblewrap import open_bubblewrap
from sandbox_runner.sandbox.host import SandboxSettings
from sandbox_runner.warm.parent import WAITING, Nest, start_parent

async def main():
    sandbox = await open_bubblewrap(SandboxSettings(sys.argv[1]))
    parent = await start_parent(sandbox, Nest(3))
    try:
        print(await (await parent.expect(WAITING)).lines.hear_ready())
    finally:
        await parent.end()
        await sandbox.close()

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def answers(walls: "Walls", ordinary_user: "OrdinaryUser") -> dict[str, Any]:
    """Run the probe and the named attacks as an ordinary user; give its walls and each attack's result."""
    found, *results = ordinary_user.run(ATTACKS, walls.small, probe=True, seconds=110)
    return {"walls": found, "left": ordinary_user.left(), "results": {one["job_id"]: one for one in results}}


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack["id"])
def test_an_attack_on_an_ordinary_users_runner_gets_its_ending(answers: dict[str, Any], attack: dict[str, Any]) -> None:
    result = answers["results"][attack["id"]]
    endings = attack_data.endings_of(attack, "ordinary_user")
    assert result["ending"] in endings, (result["fault"], result["notes"], result["stderr"])


def test_the_probe_says_that_one_uid_serves_all_slots_and_that_no_wall_that_matters_is_missing(
    answers: dict[str, Any],
) -> None:
    missing = {wall["name"]: wall for wall in answers["walls"] if not wall["stands"]}
    assert "uid_per_slot" in missing
    assert [name for name, wall in missing.items() if wall["matters"]] == []
    assert all(wall["mend"] for wall in missing.values())


def test_nothing_of_the_ordinary_users_jobs_is_left(answers: dict[str, Any]) -> None:
    assert answers["left"] == []


def test_a_warm_child_of_an_ordinary_user_gets_a_proc_of_its_own(ordinary_user: "OrdinaryUser") -> None:
    python, folder, uid = str(ordinary_user.python), str(ordinary_user.folder), str(ordinary_user.uid)
    drop = ["setpriv", "--reuid", uid, "--regid", uid, "--clear-groups"] if os.geteuid() == 0 else []
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": folder, "HOME": f"{folder}/own"}
    done = subprocess.run(
        [*drop, python, "-B", "-c", WARM, python],
        env=environment,
        cwd="/",
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.stdout == b"True\n", done.stderr.decode()
