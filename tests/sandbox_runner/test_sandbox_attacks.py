"""Every attack that is kept as data, against real bubblewrap: its ending, no survivor, and the next job answered."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import attack_data
import pytest

from bot.adapters.shell.render import plain
from bot.engine.events import CodeSent
from bot.testing import Conversation
from content.loader import load_course
from sandbox_runner.protocol import Ending, JobKind, Result

if TYPE_CHECKING:
    from conftest import Walls, WarmWalls

ATTACKS: list[dict[str, Any]] = attack_data.all_attacks()
COLD: list[dict[str, Any]] = attack_data.named_attacks("cold.json")


COURSE = load_course()


def assert_told(result: Result) -> None:
    """Let the engine tell the learner of it: the sentence of its ending, or what speaks for itself."""
    talk = Conversation(COURSE)
    talk.take(CodeSent("x = 1"))
    text = "\n".join(plain(reply) for reply in talk.finish(lambda job: replace(result, job_id=job.id)))
    keys = (f"ending.{result.ending}", "ending.ok_", "ending.exit_")
    sentences = [
        phrase.split("{")[0]
        for key, phrase in COURSE.phrases.items()
        if isinstance(phrase, str) and key.startswith(keys)
    ]
    speaking = [result.fault.name] if result.fault else [one.name for one in result.variants]
    assert any(part in text for part in (*sentences, *speaking)), text


@pytest.mark.sandbox
@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack["id"])
async def test_an_attack_gets_its_ending_and_leaves_nothing(warm: "WarmWalls", attack: dict[str, Any]) -> None:
    await _try(warm, attack)


@pytest.mark.sandbox
@pytest.mark.parametrize("attack", COLD, ids=lambda attack: attack["id"])
async def test_an_attack_started_cold_gets_its_ending_and_leaves_nothing(
    walls: "Walls", attack: dict[str, Any]
) -> None:
    await _try(walls, attack)


def _fault(result: Result) -> tuple[str, ...]:
    return (result.fault.name, result.fault.last_line) if result.fault is not None else ()


async def _try(walls: "Walls", attack: dict[str, Any]) -> None:
    limits = replace(walls.small, **attack.get("limits", {}))
    result = await walls.run(attack_data.source_of(attack), limits, JobKind(attack.get("kind", "run")))
    assert result.ending in attack["endings"], (result.fault, result.notes, result.stderr)
    assert set(attack.get("notes", ())) <= {note.code for note in result.notes}
    assert set(attack.get("files", ())) <= {file.name for file in result.files}
    told = (
        result.stdout.head,
        result.stdout.tail,
        result.stderr.head,
        result.stderr.tail,
        result.value,
        *_fault(result),
    )
    assert not [(hidden, text) for hidden in attack.get("hidden", ()) for text in told if hidden in text]
    assert not [text for text in _fault(result) if "\n" in text]
    assert_told(result)
    assert walls.survivors() == []
    after = await walls.run("print('next')")
    assert (after.ending, after.stdout.head) == (Ending.OK, "next\n")


def test_every_attack_has_an_id_of_its_own() -> None:
    ids = [attack["id"] for attack in ATTACKS]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", ["runsc.json", "ordinary_user.json", "cold.json"])
def test_at_least_a_third_of_the_attacks_is_tried_on_the_other_ways_to_confine(name: str) -> None:
    assert 3 * len(attack_data.named_attacks(name)) >= len(ATTACKS)


@pytest.mark.parametrize("way", ["runsc", "ordinary_user"])
def test_what_differs_on_another_way_is_an_attack_there_is_and_has_a_reason(way: str) -> None:
    known = attack_data.differences(way)
    assert set(known) <= {attack["id"] for attack in ATTACKS}
    assert all(one["why"] for one in known.values())
