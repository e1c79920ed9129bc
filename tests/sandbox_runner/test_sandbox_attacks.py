"""Every attack that is kept as data, against real bubblewrap: its ending, no survivor, and the next job answered."""

import ast
import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sandbox_runner.protocol import Ending, JobKind

if TYPE_CHECKING:
    from conftest import Walls

ATTACKS = Path(__file__).with_name("attacks")


def _shared() -> list[dict[str, Any]]:
    return json.loads((ATTACKS / "shared.json").read_text(encoding="utf-8"))


def _own() -> list[dict[str, Any]]:
    return tomllib.loads((ATTACKS / "own.toml").read_text(encoding="utf-8"))["attack"]


def _source(attack: dict[str, Any]) -> str:
    if "code_expression" in attack:
        return _evaluated(attack["code_expression"])
    return attack.get("cells", "{code}").replace("{code}", attack["code"])


def _evaluated(expression: str) -> str:
    """A source too long or too odd to be written down: a literal, or a literal times a number."""
    tree = ast.parse(expression, mode="eval").body
    if isinstance(tree, ast.BinOp):
        return ast.literal_eval(tree.left) * ast.literal_eval(tree.right)
    return ast.literal_eval(tree)


@pytest.mark.sandbox
@pytest.mark.parametrize("attack", [*_shared(), *_own()], ids=lambda attack: attack["id"])
async def test_an_attack_gets_its_ending_and_leaves_nothing(walls: "Walls", attack: dict[str, Any]) -> None:
    limits = replace(walls.small, **attack.get("limits", {}))
    kind = JobKind(attack.get("kind", "run"))
    result = await walls.run(_source(attack), limits, kind)
    assert result.ending in attack["endings"], (result.fault, result.notes, result.stderr)
    assert set(attack.get("notes", ())) <= {note.code for note in result.notes}
    assert walls.survivors() == []
    after = await walls.run("print('next')")
    assert (after.ending, after.stdout.head) == (Ending.OK, "next\n")


def test_every_attack_has_an_id_of_its_own() -> None:
    ids = [attack["id"] for attack in [*_shared(), *_own()]]
    assert len(ids) == len(set(ids))
    assert len(_own()) >= 40
