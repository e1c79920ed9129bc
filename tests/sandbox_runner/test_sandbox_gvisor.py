"""The same attacks against gVisor, where its `runsc` is installed and the tests run as root."""

import asyncio
import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import attack_data
import pytest

from sandbox_runner.protocol import Device, Ending, Job, JobKind, Phase, Progress
from sandbox_runner.sandbox.probing import probe

if TYPE_CHECKING:
    from conftest import Walls

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(shutil.which("runsc") is None or os.geteuid() != 0, reason="sandbox: runsc and root are needed"),
]


@pytest.mark.parametrize("attack", attack_data.named_attacks("runsc.json"), ids=lambda attack: attack["id"])
async def test_an_attack_on_gvisor_gets_its_ending_and_leaves_nothing(gvisor: "Walls", attack: dict[str, Any]) -> None:
    limits = replace(gvisor.small, **attack.get("limits", {}))
    result = await gvisor.run(attack_data.source_of(attack), limits, JobKind(attack.get("kind", "run")))
    assert result.ending in attack_data.endings_of(attack, "runsc"), (result.fault, result.notes, result.stderr)
    assert gvisor.survivors() == []
    after = await gvisor.run("print('next')")
    assert (after.ending, after.stdout.head) == (Ending.OK, "next\n")


async def test_a_job_cancelled_under_gvisor_leaves_no_process_and_no_record(gvisor: "Walls") -> None:
    entered = asyncio.Event()

    def hear(progress: Progress) -> None:
        if progress.phase is Phase.RUN:
            entered.set()

    job = Job("a", JobKind.RUN, "while True: pass", "learner", limits=gvisor.small)
    running = asyncio.create_task(gvisor.worker.run_job(job, 0, hear))
    await entered.wait()
    running.cancel()
    assert (await running).ending is Ending.CANCELLED
    assert gvisor.survivors() == []
    assert list((gvisor.sandbox.host.folder / "runsc").iterdir()) == []


async def test_every_wall_that_matters_stands_around_gvisor(gvisor: "Walls") -> None:
    walls = await probe(lambda job, slot: gvisor.worker.run_job(job, slot, lambda _: None), gvisor.sandbox.setting)
    assert [(wall.name, wall.detail) for wall in walls if wall.matters and not wall.stands] == []


async def test_a_job_for_a_gpu_is_refused_by_gvisor(gvisor: "Walls") -> None:
    job = Job("a", JobKind.RUN, "print(1)", "learner", device=Device.CUDA)
    result = await gvisor.worker.run_job(job, 0, lambda _: None)
    assert result.ending is Ending.INFRA_ERROR
    assert [note.code for note in result.notes] == ["no_gpu"]
