"""Every conversation's replies as Telegram and as Discord shows them, side by side in tests/side_by_side.

Regenerate them, after looking at why they changed, with REGENERATE_CONVERSATIONS=1. Marks that nobody sees are written
so that they are: ⟨ ⟩ isolate (U+2066, U+2069), ⟨? takes its own direction (U+2068), ¶ begins from the right (U+061C),
· breaks a tick (U+200B).
"""

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.discord import looks as discord_looks
from bot.adapters.telegram import looks as telegram_looks
from bot.engine.replies import Choices, Reply
from content.schema import Course, Item

_PATH = Path(__file__).with_name("test_telegram_conversations.py")
_spec = importlib.util.spec_from_file_location("conversations_side_by_side", _PATH)
assert _spec is not None
assert _spec.loader is not None
telegram = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = telegram
_spec.loader.exec_module(telegram)
golden = telegram.golden

FOLDER = Path(__file__).resolve().parents[2] / "side_by_side"
REGENERATE = bool(os.environ.get("REGENERATE_CONVERSATIONS"))
_SEEN = str.maketrans({"\u2066": "⟨", "\u2068": "⟨?", "\u2069": "⟩", "\u061c": "¶", "\u200b": "·"})
_TICKS = "`````"


def side_by_side(reply: Reply, course: Course) -> str:
    """Write a reply as both platforms get it."""
    drawn = (("Telegram", telegram_looks.drawn(reply, course)), ("Discord", discord_looks.drawn(reply, course)))
    return "\n\n".join(f"**{name}**\n\n{_TICKS}\n{text.translate(_SEEN)}\n{_TICKS}" for name, text in drawn)


def played(script: Any, step: dict[str, Any]) -> tuple[Reply, ...]:  # noqa: ANN401 - of a module that is loaded by path
    """Play a step, and keep the buttons that it shows."""
    replies: tuple[Reply, ...] = script.replies(step)
    for block in (block for reply in replies for block in reply.blocks):
        if isinstance(block, Choices):
            script.buttons.update({choice.label: choice.payload for choice in block.choices})
    return replies


@pytest.mark.parametrize("name", telegram.SCRIPTS)
def test_a_conversation_is_drawn_for_both_platforms_as_kept(
    name: str, course: Course, other_items: tuple[Item, ...]
) -> None:
    written = telegram.SCRIPTS[name]
    course = golden.with_items(
        golden.with_explorer(course, written.get("explorer")), written.get("items", ()), other_items
    )
    course = golden.with_experiment(course, written.get("experiment", ()), written.get("seen"))
    script = golden.Script(course, away=written.get("away", False), gpu=written.get("gpu", False))
    parts = [f"# {written.get('title', name)}"]
    for step in written["steps"]:
        (what, value), *_ = step.items()
        shown = str(value).strip().splitlines()
        parts.append(f"## {what}: {shown[0] if shown else ''}{' …' if len(shown) > 1 else ''}")
        parts += [side_by_side(reply, course) for reply in played(script, step)]
    text = "\n\n".join(parts) + "\n"
    file = FOLDER / f"{name}.md"
    if REGENERATE:
        FOLDER.mkdir(exist_ok=True)
        file.write_bytes(text.encode())
    assert file.read_bytes().decode() == text


def test_no_conversation_is_kept_that_is_not_written() -> None:
    assert {path.stem for path in FOLDER.glob("*.md")} == set(telegram.SCRIPTS)
