"""A process is started where the host had none left for a moment, and never tried again for another reason."""

import asyncio
import errno
import os
import sys

import pytest

from sandbox_runner.client import EmbeddedRunner
from sandbox_runner.errors import UnavailableError
from sandbox_runner.spawning import started


class Host:
    """Refuses so many starts, with one error."""

    def __init__(self, refusals: int, number: int = errno.EAGAIN) -> None:
        self.refusals = refusals
        self.number = number
        self.asked = 0

    async def start(self) -> asyncio.subprocess.Process:
        self.asked += 1
        if self.asked <= self.refusals:
            raise OSError(self.number, os.strerror(self.number))
        return await asyncio.create_subprocess_exec(sys.executable, "-c", "")


async def test_a_host_without_a_process_left_for_a_moment_is_waited_for() -> None:
    host = Host(3)
    assert await (await started(host.start)).wait() == 0
    assert host.asked == 4


@pytest.mark.parametrize(("number", "patience_s"), [(errno.ENOENT, 10.0), (errno.EAGAIN, 0.0)])
async def test_another_fault_or_no_patience_is_told_at_once(number: int, patience_s: float) -> None:
    host = Host(3, number)
    with pytest.raises(OSError, match=os.strerror(number)):
        await started(host.start, patience_s)
    assert host.asked == 1


async def test_an_embedded_runner_that_cannot_be_started_is_one_that_is_not_there() -> None:
    with pytest.raises(UnavailableError, match="cannot be started: No such file"):
        await EmbeddedRunner({"PATH": "/usr/bin:/bin"}, program=("/nowhere/python",)).start()
