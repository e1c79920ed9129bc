"""Bubblewrap's walls with a warm start: a child of the parent where one can be had, else a start from nothing.

Law: a cold start says why, in the result and in the journal.
"""

import re

from sandbox_runner.sandbox.bubblewrap import Bubblewrap
from sandbox_runner.sandbox.jailed import Jailed
from sandbox_runner.sandbox.port import Staged
from sandbox_runner.warm.nursery import Note, Nursery
from sandbox_runner.warm.parent import NotBornError

_EXPECTED = {"gpu", "gpus", "no_parent", "environment"}
_SETS_EARLY = re.compile(
    rb"environ.{0,40}['\"](CUDA|CUBLAS|CUDNN|NVIDIA|NCCL|PYTORCH|TORCH|TRITON|OMP|MKL|OPENBLAS|NUMEXPR|KMP|GOMP|MPL)_?[A-Z_]*"
    rb"['\"](\s*\]\s*=[^=]|\s*,|\s*:)|putenv", re.DOTALL
)  # fmt: skip
"""Code that sets what a library reads once, when it is loaded: a warm parent has loaded it already."""


class WarmStart:
    """A sandbox over another: the same walls, sooner."""

    def __init__(
        self, cold: Bubblewrap, nursery: Nursery, note: Note, on_gpus: dict[tuple[int, ...], Nursery] | None = None
    ) -> None:
        self._cold = cold
        self._nursery = nursery
        self._on_gpus = {} if on_gpus is None else on_gpus
        self._note = note

    async def start(self, job: Staged) -> Jailed:
        """Start the harness inside the walls.

        Raises:
            SetupError: a control group cannot be made, or neither way starts.
        """
        try:
            return await self._bear(job)
        except NotBornError as refused:
            why = str(refused)
        if why not in _EXPECTED:
            self._note("cold_start", why=why)
        confined = await self._cold.start(job)
        confined.began = f"cold:{why}"
        return confined

    async def _bear(self, job: Staged) -> Jailed:
        nursery = self._on_gpus.get(job.gpus) if job.gpus else self._nursery
        if nursery is None:
            raise NotBornError("gpus" if len(job.gpus) > 1 else "gpu")
        if _SETS_EARLY.search(job.code):
            why = "environment"
            raise NotBornError(why)
        return await nursery.bear(job)

    async def close(self) -> None:
        """End the parents, then remove what is kept on the host."""
        for nursery in (self._nursery, *self._on_gpus.values()):
            await nursery.close()
        await self._cold.close()
