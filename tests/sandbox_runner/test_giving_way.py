"""Preparing beside the runners of a host: who waits for what it holds goes first, and it goes on after."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sandbox_runner.assembly import prepare_giving_way
from sandbox_runner.errors import SetupError
from sandbox_runner.hostlock import HostLock, gpu_lock
from sandbox_runner.settings import Settings


@dataclass
class Preparing:
    """Takes for ever at its first turn, and is done at once at its second."""

    begun: asyncio.Event = field(default_factory=asyncio.Event)
    turns: int = 0
    given_up: int = 0

    async def __call__(self, _settings: Settings, sources: Mapping[str, str]) -> dict[str, str]:
        self.turns += 1
        if self.turns > 1:
            return dict.fromkeys(sources, "ok")
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.given_up += 1
        return {}


def _silent() -> None:
    """Nobody hears of it."""


async def test_a_measurement_of_a_runner_goes_before_what_is_prepared_beside_it(tmp_path: Path) -> None:
    settings, preparing, told = Settings(lock=tmp_path / "lock", gpus=()), Preparing(), list[str]()
    async with asyncio.timeout(20):
        ours = asyncio.create_task(prepare_giving_way(settings, {"a": ""}, lambda: told.append("gave way"), preparing))
        await preparing.begun.wait()
        async with HostLock(settings.lock).held(alone=True):
            assert (preparing.turns, preparing.given_up) == (1, 1)
        assert await ours == {"a": "ok"}
    assert told == ["gave way"]


async def test_a_job_for_a_gpu_goes_before_what_is_prepared_on_it(tmp_path: Path) -> None:
    settings, preparing, told = Settings(lock=tmp_path / "lock", gpus=(3,)), Preparing(), asyncio.Event()
    theirs = gpu_lock(settings.lock, 3)
    async with asyncio.timeout(20):
        ours = asyncio.create_task(prepare_giving_way(settings, {"a": ""}, told.set, preparing))
        await preparing.begun.wait()
        theirs.want()
        await told.wait()
        await asyncio.sleep(0.5)
        assert preparing.turns == 1  # as long as they wait it is not begun again, only to be given up again
        theirs.want_no_more()
        assert await ours == {"a": "ok"}
    assert (preparing.turns, preparing.given_up) == (2, 1)


async def test_a_preparing_that_is_given_up_or_fails_holds_nothing(tmp_path: Path) -> None:
    settings, preparing = Settings(lock=tmp_path / "lock", gpus=()), Preparing()

    async def fails(_settings: Settings, _sources: Mapping[str, str]) -> dict[str, str]:
        message = "no parent"
        raise SetupError(message)

    async with asyncio.timeout(20):
        with pytest.raises(SetupError, match="no parent"):
            await prepare_giving_way(settings, {"a": ""}, _silent, fails)
        ours = asyncio.create_task(prepare_giving_way(settings, {"a": ""}, _silent, preparing))
        await preparing.begun.wait()
        ours.cancel()
        await asyncio.gather(ours, return_exceptions=True)
        async with HostLock(settings.lock).held(alone=True):
            assert preparing.given_up == 1
