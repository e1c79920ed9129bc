"""Typed questions to a timing harness: each answer is decoded strictly, each wait has the phase's deadline.

Law: a fault that the harness tells of is the learner's and becomes `Stopped`; an answer that does not decode is
`Tampered`. Every wait is bounded by the limit of the phase it belongs to.
"""

import errno
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from sandbox_runner.channel import Channel, HungUp, Tampered
from sandbox_runner.codec import decode
from sandbox_runner.errors import WireError
from sandbox_runner.protocol import Ending, Fault, Flag, Limits, Phase, Progress, Reached

MOST_VARIANTS = 8
_NS = 1_000_000_000
_LONGEST_NAME, _LONGEST_LINE = 80, 500
_SYNTAX = {"SyntaxError", "IndentationError", "TabError"}
_TIMEOUTS = {Phase.IMPORT: Ending.TIMEOUT_IMPORT, Phase.COMPILE: Ending.TIMEOUT_COMPILE}
_LIMITS = {
    Phase.START: "start_s",
    Phase.IMPORT: "import_s",
    Phase.RUN: "run_s",
    Phase.COMPILE: "compile_s",
    Phase.WARMUP: "warmup_s",
    Phase.CHECK: "check_s",
    Phase.MEASURE: "measure_s",
}


class Stopped(Exception):  # noqa: N818 - an ending with what belongs to it, not a fault of ours
    """The run cannot go on: why, and what the learner's code raised or which limit was reached."""

    def __init__(
        self,
        ending: Ending,
        *,
        fault: Fault | None = None,
        reached: Reached | None = None,
        flags: tuple[Flag, ...] = (),
    ) -> None:
        super().__init__(ending)
        self.ending = ending
        self.fault = fault
        self.reached = reached
        self.flags = flags


@dataclass(frozen=True, slots=True)
class Named:
    """A variant as the harness found it: `result` names the parts of what it returns ("" is an expression)."""

    name: str
    line: int
    result: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A source taken apart; remarks are codes with lines. `own`: the source reads the clock itself."""

    variants: tuple[Named, ...]
    remarks: tuple[tuple[str, int], ...]
    own: bool = False


@dataclass(frozen=True, slots=True)
class Pinned:
    """The cores that the harness may run on."""

    cores: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SetUp:
    """Whether the set-up defines `make(rng, n)`, the `n` it gives, and the ns that its own timed regions took."""

    makes: bool
    n: int
    own: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Made:
    """Inputs made anew: the coarsest floating-point type among them, or ""."""

    coarsest: str = ""


@dataclass(frozen=True, slots=True)
class Prepared:
    """How inputs for a block were made: "" as all are, `apart`, or not apart since they are `large` or do `not` cross.

    `arrays` and `others` are the bytes of what crossed, of arrays and of all else.
    """

    how: str = ""
    arrays: int = 0
    others: int = 0


Items = tuple[tuple[str, str, tuple[int, ...], int], ...]
"""Name, dtype, shape and bytes of each part of a result."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a variant returned. `ns` and `compiled` frames are of a first call; `changed`: it changed its inputs."""

    items: Items
    ns: int = 0
    compiled: int = 0
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Widened:
    """What a variant returned on inputs of the highest precision; None where it does not take them."""

    items: Items | None = None


@dataclass(frozen=True, slots=True)
class Went:
    """The time claimed for a block, ns, and how many frames torch has compiled so far."""

    ns: int
    compiled: int = 0


@dataclass(frozen=True, slots=True)
class Marked:
    """What the last result of a block is, at once after it: a digest of each chunk of each part."""

    items: Items
    marks: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Held:
    """Whether compiled code will fail rather than compile again."""

    held: bool


@dataclass(frozen=True, slots=True)
class Counted:
    """The work of one call: operations in products of matrices, bytes that must be moved, the products' type.

    `least` of the operations no way of computing it can spare (Winograd's and causal attention's are fewer). `gpu_ns`
    is what a GPU itself works on it, by its events; 0 where there is none, or it has nothing to do.
    """

    flops: int = 0
    bytes: int = 0
    dtype: str = ""
    least: int = 0
    gpu_ns: float = 0.0


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing to tell."""


@dataclass(frozen=True, slots=True)
class _Told:
    name: str
    last_line: str
    line: int | None = None
    code: str = ""
    status: int | None = None
    errno: int = 0
    refused: bool = False
    network: bool = False
    syntax: bool = False


class OursFailedError(Exception):
    """What we brought ourselves (an exercise's starter or reference) failed: how, as an operator's text."""


T = TypeVar("T")


@dataclass(slots=True)
class Harness:
    """The harness at the other end of `channel`, asked within the limits of a job.

    `ours` names what it runs where that is no learner's: whatever goes wrong there is `OursFailedError`.
    """

    channel: Channel
    limits: Limits
    tell: Callable[[Progress], None]
    clock: Callable[[], int] = time.perf_counter_ns
    phases_ms: dict[str, float] = field(default_factory=dict)
    ours: str = ""
    _phase: Phase = Phase.START
    _deadline: int = 0

    @contextmanager
    def phase(self, phase: Phase) -> Iterator[None]:
        """Enter a phase: it is told of, timed, and its limit runs."""
        begin = self.clock()
        self._phase = phase
        self._deadline = begin + int(self._limit() * _NS)
        self.tell(Progress(phase))
        try:
            yield
        finally:
            spent = (self.clock() - begin) / 1e6
            self.phases_ms[phase.value] = self.phases_ms.get(phase.value, 0.0) + spent

    def left_s(self) -> float:
        """Give the seconds left to this phase."""
        return (self._deadline - self.clock()) / _NS

    async def ask(self, kind: type[T], op: str, **fields: object) -> tuple[T, bytes, int]:
        """Ask, and give the decoded answer, its payload, and the wall time of the whole exchange in ns.

        Raises:
            Stopped: the learner's code failed, or the phase's limit was reached.
            Tampered, HungUp: as `Channel.ask`.
            OursFailedError: instead of these, where what runs is ours.
        """
        try:
            return await self._ask(kind, op, fields)
        except (Stopped, Tampered, HungUp) as failed:
            if not self.ours:
                raise
            fault = failed.fault if isinstance(failed, Stopped) else None
            message = f"the {self.ours} failed at {op}: {fault.last_line if fault else failed}"
            raise OursFailedError(message) from failed

    async def _ask(self, kind: type[T], op: str, fields: dict[str, object]) -> tuple[T, bytes, int]:
        left = self.left_s()
        try:
            reply = await self.channel.ask(op, timeout=max(left, 0.0), **fields)
        except TimeoutError:
            raise self.out_of_time() from None
        try:
            if set(reply.header) == {"fault"}:
                raise _stopped(decode(_Told, reply.header["fault"]), op)
            return decode(kind, reply.header), reply.payload, reply.wall_ns
        except WireError as wrong:
            message = f"{op}: {wrong}"
            raise Tampered(message) from None

    def out_of_time(self) -> Stopped:
        """Give the ending of a phase whose limit was reached, or would be by the next step."""
        reached = Reached(_LIMITS[self._phase], self._limit(), "s")
        return Stopped(_TIMEOUTS.get(self._phase, Ending.TIMEOUT_RUN), reached=reached)

    def _limit(self) -> float:
        extra = self.limits.run_s if self._phase is Phase.COMPILE else 0.0
        return float(getattr(self.limits, _LIMITS[self._phase])) + extra


@dataclass(frozen=True, slots=True)
class Seat:
    """Where a variant is run: a harness, and the variant's number there."""

    harness: Harness
    number: int = 0


def _stopped(told: _Told, op: str) -> Stopped:
    line = told.line if told.line is not None and told.line > 0 else None
    fault = Fault(told.name[:_LONGEST_NAME], told.last_line[:_LONGEST_LINE], line)
    flags = (Flag(told.code[:_LONGEST_NAME], {}, line),) if told.code else ()
    return Stopped(_ending(told, op), fault=fault, flags=flags)


def _ending(told: _Told, op: str) -> Ending:
    if op == "parse" or (op == "task" and told.name in _SYNTAX):
        return Ending.SYNTAX_ERROR
    if told.status is not None:
        return Ending.EXIT_NONZERO if told.status else Ending.NO_RESULT
    if told.errno == errno.EAGAIN and told.refused and told.name in {"BlockingIOError", "OSError"}:
        return Ending.PROC_LIMIT
    if told.errno in {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}:
        return Ending.FILE_LIMIT
    match told.name:
        case "MemoryError":
            return Ending.OOM_HOST
        case "OutOfMemoryError":
            return Ending.OOM_GPU
        case _:
            return Ending.PY_ERROR


def believable(parsed: Parsed) -> None:
    """Check that a source taken apart is one that the harness can have found.

    Raises:
        Tampered: it is not.
    """
    names = [variant.name for variant in parsed.variants]
    fits = (0 if parsed.own else 1) <= len(names) <= MOST_VARIANTS and len(set(names)) == len(names)
    if not fits or any(len(name) > _LONGEST_NAME or not name.isprintable() or not name for name in names):
        message = "parse: no variants that a harness finds"
        raise Tampered(message)
