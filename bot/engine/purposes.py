"""What is to be run and why; the why is written into the slot of the reply, so that a run's end finds its meaning.

Law: a slot is `<purpose>:<ids>:<run>`; it is made and read here only.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from sandbox_runner.protocol import Budget, Device, Exercise, JobKind, Limits


class Why(StrEnum):
    """What a run is for."""

    CODE = "code"
    EXAMPLE = "ex"
    MYTH = "myth"
    EXERCISE = "task"
    ITEM = "item"
    """to answer a question: the item is the ask, the vote is the mark behind which the check prints"""


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a run is for: the id of the example, myth or exercise, and the vote on a myth or the exercise's `r<rev>`."""

    why: Why = Why.CODE
    item: str = ""
    vote: str = ""

    def slot(self, run: str) -> str:
        """Give the slot of the run's reply."""
        return f"{self.why}:{self.item}:{self.vote}:{run}"


def purpose_of(slot: str) -> Purpose:
    """Read a slot; what is not in the grammar counts as the learner's own code."""
    parts = slot.split(":")
    if len(parts) != 4 or parts[0] not in set(Why):  # noqa: PLR2004 - the four parts above
        return Purpose()
    return Purpose(Why(parts[0]), parts[1], parts[2])


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be run, and why. Without limits the device's own hold.

    It runs on the first of `devices` that is there; on all that are there where it is for `each`. On CUDA it gets
    `gpus` GPUs; as many as the runner lends to one job where that is None. `machine` is the one that ran what this is
    compared with.
    """

    source: str
    kind: JobKind
    purpose: Purpose = field(default_factory=Purpose)
    filename: str = "code.py"
    devices: tuple[Device, ...] = (Device.CPU,)
    budget: Budget = Budget.DEFAULT
    limits: Limits | None = None
    exercise: Exercise | None = None
    each: bool = False
    gpus: int | None = 1
    machine: str = ""
