"""Every attack that is kept as data, against real bubblewrap: its ending, no survivor, and the next job answered."""

import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sandbox_runner.protocol import Ending, JobKind

if TYPE_CHECKING:
    from conftest import Walls

_spec = importlib.util.spec_from_file_location("attack_data", Path(__file__).with_name("attack_data.py"))
assert _spec is not None
assert _spec.loader is not None
attack_data = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(attack_data)
ATTACKS: list[dict[str, Any]] = attack_data.all_attacks()


@pytest.mark.sandbox
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack["id"])
async def test_an_attack_gets_its_ending_and_leaves_nothing(walls: "Walls", attack: dict[str, Any]) -> None:
    limits = replace(walls.small, **attack.get("limits", {}))
    result = await walls.run(attack_data.source_of(attack), limits, JobKind(attack.get("kind", "run")))
    assert result.ending in attack["endings"], (result.fault, result.notes, result.stderr)
    assert set(attack.get("notes", ())) <= {note.code for note in result.notes}
    assert walls.survivors() == []
    after = await walls.run("print('next')")
    assert (after.ending, after.stdout.head) == (Ending.OK, "next\n")


def test_every_attack_has_an_id_of_its_own() -> None:
    ids = [attack["id"] for attack in ATTACKS]
    assert len(ids) == len(set(ids))
