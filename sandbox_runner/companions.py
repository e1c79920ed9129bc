"""The processes that an exercise's submission is measured beside: starter and reference, each in walls of its own.

Law: they run what is ours, and still get every wall. What they print is read and thrown away, and nothing of them is
alive when their context ends, however it ends.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from sandbox_runner.channel import Channel
from sandbox_runner.output import Kept, drain
from sandbox_runner.protocol import Job
from sandbox_runner.sandbox.port import Confined, Sandbox, Staged

EXERCISE_BESIDE = ("starter.py", "reference.py")


@asynccontextmanager
async def companions(sandbox: Sandbox, job: Job, staged: Staged) -> AsyncIterator[tuple[Channel, ...]]:
    """Give the channels to starter and reference, ready to be asked; none where the job is no exercise.

    Each has a slot after the job's own: what measures has the host to itself, so those are free.

    Raises:
        SetupError: a sandbox does not start.
        TimeoutError, HungUp, Tampered: one does not answer as a harness does.
    """
    async with AsyncExitStack() as stack:
        channels = []
        sources = (job.exercise.starter, job.exercise.reference) if job.exercise is not None else ()
        for place, (source, name) in enumerate(zip(sources, EXERCISE_BESIDE, strict=False), start=1):
            one = replace(
                staged, id=f"{staged.id}-{place}", code=source.encode(), filename=name, slot=staged.slot + place
            )
            confined = await sandbox.start(one)
            stack.push_async_callback(_end, confined)
            channel = Channel(confined.channel)
            stack.callback(channel.close)
            for stream in (confined.stdout, confined.stderr):
                listening = asyncio.create_task(drain(stream, Kept(0), job.limits.output_ceiling_bytes, _nothing))
                stack.callback(listening.cancel)
            await channel.ask("start", timeout=job.limits.start_s, kind="time")
            channels.append(channel)
        yield tuple(channels)


async def _end(confined: Confined) -> None:
    """Kill and wait, even where the task is being cancelled: nothing may be left."""

    async def end() -> None:
        await confined.kill()
        await confined.wait()

    ending = asyncio.create_task(end())
    while not ending.done():
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            if ending.cancelled():
                raise


def _nothing() -> None:
    """Too much output of ours is no reason to stop a learner's run: it is only no longer kept."""
