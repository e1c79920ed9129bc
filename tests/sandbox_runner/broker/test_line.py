"""What both ends do with a connection."""

import asyncio

from sandbox_runner.broker.line import ended


async def test_a_task_that_forgot_once_that_it_was_cancelled_is_ended_all_the_same() -> None:
    asked: list[bool] = []

    async def deaf() -> None:
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                asked.append(True)
                if len(asked) > 1:
                    raise

    task = asyncio.create_task(deaf())
    await asyncio.sleep(0)
    await asyncio.wait_for(ended([task]), 20)
    assert task.cancelled()
    assert len(asked) == 2
