"""Bubblewrap's walls with a warm start: a child of the parent where one can be had, else a start from nothing.

Law: a cold start says why, in the result and in the journal.
"""

from sandbox_runner.sandbox.bubblewrap import Bubblewrap
from sandbox_runner.sandbox.jailed import Jailed
from sandbox_runner.sandbox.port import Staged
from sandbox_runner.warm.nursery import Note, Nursery
from sandbox_runner.warm.parent import NotBornError

_EXPECTED = {"gpu", "no_parent"}


class WarmStart:
    """A sandbox over another: the same walls, sooner."""

    def __init__(self, cold: Bubblewrap, nursery: Nursery, note: Note) -> None:
        self._cold = cold
        self._nursery = nursery
        self._note = note

    async def start(self, job: Staged) -> Jailed:
        """Start the harness inside the walls.

        Raises:
            SetupError: a control group cannot be made, or neither way starts.
        """
        try:
            return await self._nursery.bear(job)
        except NotBornError as refused:
            why = str(refused)
        if why not in _EXPECTED:
            self._note("cold_start", why=why)
        confined = await self._cold.start(job)
        confined.began = f"cold:{why}"
        return confined

    async def close(self) -> None:
        """End the parents, then remove what is kept on the host."""
        await self._nursery.close()
        await self._cold.close()
