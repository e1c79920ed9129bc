"""Puts a worker together as the settings say, and lends the probe the means to try its walls.

Law: nothing here decides what is good enough; what stands is what the probe found, and before it, what is put up.
"""

from sandbox_runner.errors import SetupError
from sandbox_runner.machine import read_machine
from sandbox_runner.protocol import Capabilities, Device, Job, JobKind, Progress, Result, Wall
from sandbox_runner.sandbox.bubblewrap import open_bubblewrap
from sandbox_runner.sandbox.gvisor import open_gvisor
from sandbox_runner.sandbox.host import SandboxSettings
from sandbox_runner.sandbox.probing import probe
from sandbox_runner.serving import Assembled
from sandbox_runner.settings import Settings
from sandbox_runner.worker import SandboxWorker


async def assemble(settings: Settings, slots: int) -> Assembled:
    """Make the sandbox and its worker, with what they can do.

    Raises:
        SetupError: a program or the learners' interpreter is not there.
    """
    if not settings.python:
        message = "TASREE_SANDBOX_PYTHON is not set: the path of the learners' interpreter (see `make setup`)"
        raise SetupError(message)
    ask = SandboxSettings(settings.python)
    sandbox = await (open_gvisor(ask) if settings.sandbox == "runsc" else open_bubblewrap(ask))
    found = sandbox.host.interpreter
    machine = read_machine(python=found.python, numpy=found.numpy, torch=found.torch)
    worker = SandboxWorker(sandbox, machine, walls=sandbox.walls)

    async def attempt(job: Job, slot: int) -> Result:
        return await worker.run_job(job, slot, _silent)

    async def prove() -> tuple[Wall, ...]:
        walls = await probe(attempt, sandbox.setting)
        worker.walls = tuple(wall.name for wall in walls if wall.stands)
        return walls

    kinds = (JobKind.RUN, JobKind.TIME, JobKind.EXERCISE)
    capabilities = Capabilities(kinds=kinds, devices=(Device.CPU,), slots=slots, machine=machine)
    return Assembled(worker, capabilities, prove, sandbox.close)


def _silent(_: Progress) -> None:
    """The probe's own jobs tell nobody of their progress."""
