"""The same walls started by an ordinary user: user namespaces, no control group, the watchdog instead."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Walls

HERE = Path(__file__).parent
UID = 780_000 + os.getpid() % 10_000
pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def answers(walls: "Walls", learners_python: Path, repository: Path) -> Iterator[dict[str, Any]]:
    """Run the probe and the named attacks as an ordinary user; give its walls and each attack's result."""
    if not _readable_by_all(learners_python):
        pytest.skip("an ordinary user cannot read the learners' interpreter where it stands")
    folder = Path(tempfile.mkdtemp(prefix="tasree-ordinary-"))  # pytest shuts its own folders to other users
    _lay_out(folder, repository)
    attacks = _named()
    order = {"probe": True, "limits": asdict(walls.small), "attacks": attacks}
    drop = ["setpriv", "--reuid", str(UID), "--regid", str(UID), "--clear-groups"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*drop, str(learners_python), "-B", str(folder / "attack_data.py"), str(learners_python), str(folder / "own")],
        input=json.dumps(order).encode(),
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(folder), "HOME": str(folder / "own")},
        cwd="/",
        capture_output=True,
        check=False,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr.decode()
    found, *results = (json.loads(line) for line in done.stdout.splitlines())
    yield {"walls": found, "left": list(_processes_of(UID)), "results": {one["job_id"]: one for one in results}}
    shutil.rmtree(folder)


def _named() -> list[dict[str, Any]]:
    listed = subprocess.run(
        [
            sys.executable,
            "-c",
            "import json, attack_data as a; print(json.dumps(a.named_attacks('ordinary_user.json')))",
        ],
        cwd=HERE,
        capture_output=True,
        check=True,
    )
    return list(json.loads(listed.stdout))


def _readable_by_all(path: Path) -> bool:
    return all(folder.stat().st_mode & 0o001 for folder in path.absolute().parents)


def _lay_out(folder: Path, repository: Path) -> None:
    """Lay out what that user needs where it can be read: our package, the filter's library, and this test's program."""
    folder.chmod(0o755)
    shutil.copytree(
        repository / "sandbox_runner", folder / "sandbox_runner", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(Path(sysconfig.get_path("purelib")) / "pyseccomp.py", folder)
    shutil.copytree(HERE / "attacks", folder / "attacks")
    shutil.copy(HERE / "attack_data.py", folder)
    (folder / "own").mkdir()
    if os.geteuid() == 0:
        os.chown(folder / "own", UID, UID)


def _processes_of(uid: int) -> Iterator[str]:
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            if status.read_text().partition("\nUid:")[2].split()[0] == str(uid):
                yield status.parent.name
        except OSError:
            continue


@pytest.mark.parametrize("name", json.loads((HERE / "attacks" / "ordinary_user.json").read_text()))
def test_an_attack_on_an_ordinary_users_runner_gets_its_ending(answers: dict[str, Any], name: str) -> None:
    (attack,) = [attack for attack in _named() if attack["id"] == name]
    result = answers["results"][name]
    assert result["ending"] in attack["endings"], (result["fault"], result["notes"], result["stderr"])


def test_the_probe_says_that_one_uid_serves_all_slots_and_that_no_wall_that_matters_is_missing(
    answers: dict[str, Any],
) -> None:
    missing = {wall["name"]: wall for wall in answers["walls"] if not wall["stands"]}
    assert "uid_per_slot" in missing
    assert [name for name, wall in missing.items() if wall["matters"]] == []
    assert all(wall["mend"] for wall in missing.values())


def test_nothing_of_the_ordinary_users_jobs_is_left(answers: dict[str, Any]) -> None:
    assert answers["left"] == []
