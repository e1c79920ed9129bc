"""How a run ended, told apart by wait status, the kernel's counters and our own clocks, never by exit code alone.

Law: pure. What was seen from outside comes first; what the harness says of the learner's code is believed only about
that code. A fault of ours is never blamed on the learner.
"""

import errno
import os
import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from sandbox_runner.protocol import Device, Ending, Fault, Limits, Note, Phase, Reached
from sandbox_runner.sandbox.port import Ended

WAITING_SHARE = 0.1
"""Under this share of one core's time, a run that reached its time was waiting, not computing."""
_LONGEST_NAME, _LONGEST_LINE, _MOST_LINES = 80, 1200, 10_000_000
_CRASHES = {
    signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGTRAP, signal.SIGSYS,
}  # fmt: skip
_FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
_GPU_SAYS = r"(?:CUDA error|CUDA driver error|Triton Error \[CUDA\]|cuda\w*Error\w*): "
_GPU_FAULT = re.compile(
    _GPU_SAYS + r"(?:an illegal|device-side assert|misaligned|unspecified launch|(?:an )?invalid program counter"
    r"|hardware stack|operation not supported on global|the launch timed out|uncorrectable ECC)"
)
_GPU_FULL = re.compile(_GPU_SAYS + r"out of memory|CU\w+_STATUS_ALLOC_FAILED|CUDA out of memory")


class Cause(StrEnum):
    """Why we ended a run ourselves; `NONE` when it ended by itself."""

    NONE = ""
    CANCELLED = "cancelled"
    TAMPERED = "tampered"
    OUTPUT = "output"
    CPU = "cpu"
    TIME = "time"
    GRACE = "grace"


@dataclass(frozen=True, slots=True)
class Told:
    """What the harness said of the learner's code at its end. `ok` without a fault: it ran to its end."""

    fault: Fault | None = None
    syntax: bool = False
    status: int | None = None
    errno: int = 0
    network: bool = False
    empty: bool = False
    patched: bool = False
    folded: int = 0
    value: str = ""
    refused: bool = False
    """Whether another process was refused right after the fault."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that is known of a run's end. `phase` is the last one entered; times in seconds.

    `gpu_hung`: the GPU worked on after the program had been stopped.
    """

    cause: Cause
    phase: Phase
    ended: Ended
    told: Told | None
    limits: Limits
    device: Device = Device.CPU
    wall_s: float = 0.0
    used_s: float | None = None
    gpu_hung: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """The ending, the limit reached if one was, and notes."""

    ending: Ending
    reached: Reached | None = None
    notes: tuple[Note, ...] = ()


def read_told(said: Mapping[str, object]) -> Told | None:
    """Read the harness's word strictly; None when it is not of the form that a harness speaks."""
    fault = said.get("fault")
    value, folded = said.get("value", ""), said.get("folded", 0)
    if not isinstance(value, str) or type(folded) is not int or not 0 <= folded <= _MOST_LINES:
        return None
    if fault is None:
        return Told(
            empty=said.get("empty") is True, patched=bool(said.get("patched")), folded=folded, value=value[:5000]
        )
    if not isinstance(fault, dict):
        return None
    name, last, line = fault.get("name"), fault.get("last_line"), fault.get("line")
    if not isinstance(name, str) or not isinstance(last, str):
        return None
    status, number = fault.get("status"), fault.get("errno")
    return Told(
        fault=Fault(name[:_LONGEST_NAME], last[:_LONGEST_LINE], line if _is_line(line) else None),
        syntax=fault.get("syntax") is True,
        status=status if type(status) is int else None,
        errno=number if type(number) is int else 0,
        network=fault.get("network") is True,
        refused=fault.get("refused") is True,
        patched=bool(said.get("patched")),
        folded=folded,
    )


def _is_line(line: object) -> bool:
    return type(line) is int and 0 < line < _MOST_LINES


def judge(facts: Facts) -> Verdict:
    """Name the ending."""
    verdict = _stopped(facts) or _seen(facts) or _told(facts)
    return Verdict(verdict.ending, verdict.reached, verdict.notes + _remarks(facts))


def judge_measured(facts: Facts, ending: Ending, reached: Reached | None) -> Verdict:
    """Name the ending of a timing that told its own: what was seen from outside still comes first."""
    verdict = _stopped(facts) or _seen(facts)
    if verdict is None and ending is Ending.PY_ERROR and facts.told is not None and facts.told.fault is not None:
        verdict = _raised(facts, facts.told, facts.told.fault)
    if verdict is None and facts.gpu_hung:
        verdict = Verdict(Ending.GPU_HANG, reached)
    if verdict is None and ending is Ending.TIMEOUT_RUN:
        timed_out = _timed_out(facts)
        verdict = Verdict(timed_out.ending, reached or timed_out.reached, timed_out.notes)
    if verdict is None and reached is None:
        reached = _full(facts, ending)
    verdict = verdict or Verdict(ending, reached)
    remarks = tuple(note for note in _remarks(facts) if verdict.reached is None or note.code != "did_not_exit")
    return Verdict(verdict.ending, verdict.reached, verdict.notes + remarks)


def _stopped(facts: Facts) -> Verdict | None:
    """What we stopped ourselves, or what the kernel stopped for us."""
    ended, limits = facts.ended, facts.limits
    if facts.cause is Cause.CANCELLED:
        return Verdict(Ending.CANCELLED)
    if facts.cause is Cause.TAMPERED:
        return Verdict(Ending.TAMPERED)
    if facts.cause is Cause.OUTPUT:
        return Verdict(Ending.OUTPUT_LIMIT, Reached("output_ceiling_bytes", limits.output_ceiling_bytes, "bytes"))
    if facts.cause is Cause.CPU or _spent(ended, limits):
        return Verdict(Ending.CPU_LIMIT, Reached("cpu_s", limits.cpu_s, "s"))
    if ended.watchdog == "processes":
        return Verdict(Ending.PROC_LIMIT, Reached("processes", limits.processes, "count"))
    clean = facts.told is not None and facts.told.fault is None and facts.cause is not Cause.TIME
    if ended.watchdog == "memory_bytes" or (ended.oom_kills and not clean):
        return Verdict(Ending.OOM_HOST, Reached("memory_bytes", limits.memory_bytes, "bytes"))
    return _timed_out(facts) if facts.cause is Cause.TIME else None


def _spent(ended: Ended, limits: Limits) -> bool:
    """Whether the kernel ended it for its CPU time before our count did: it kills, and says no more.

    A program that has used up its time and then kills itself ends alike, and would have been ended alike; one that
    takes the kernel's word for it (SIGXCPU) before that time is up was not ended by any limit of ours.
    """
    alone = not (ended.forced or ended.canary_signal or ended.oom_kills or ended.watchdog)
    return alone and _signal(ended) in {signal.SIGKILL, signal.SIGXCPU} and ended.cpu_s >= limits.cpu_s


def _timed_out(facts: Facts) -> Verdict:
    limits = facts.limits
    if facts.gpu_hung and facts.phase not in {Phase.START, Phase.IMPORT, Phase.COLLECT}:
        return Verdict(Ending.GPU_HANG, Reached("run_s", limits.run_s, "s"))
    match facts.phase:
        case Phase.START | Phase.IMPORT | Phase.COLLECT:
            seconds = limits.import_s if facts.phase is Phase.IMPORT else limits.start_s
            return Verdict(Ending.INFRA_ERROR, Reached(f"{facts.phase.value}_s", seconds, "s"))
        case Phase.COMPILE:
            return Verdict(Ending.TIMEOUT_COMPILE, Reached("compile_s", limits.compile_s, "s"))
        case Phase.RUN | Phase.WARMUP | Phase.CHECK | Phase.MEASURE:
            name = f"{facts.phase.value}_s"
            reached = Reached(name, float(getattr(limits, name)), "s")
            if facts.used_s is not None and facts.used_s < WAITING_SHARE * facts.wall_s:
                note = Note("used_no_cpu", {"cpu_s": round(facts.used_s, 1)})
                return Verdict(Ending.TIMEOUT_WALL, reached, (note,))
            return Verdict(Ending.TIMEOUT_RUN, reached)


def _seen(facts: Facts) -> Verdict | None:
    """What the wait status and the bystander tell."""
    ended = facts.ended
    if ended.canary_signal and not ended.oom_kills:
        return Verdict(Ending.KILLED_BY_OWN_SIGNAL, notes=(Note("signal", {"name": _name(ended.canary_signal)}),))
    if facts.told is None and ended.broken and ended.forks_refused and facts.phase is not Phase.START:
        return Verdict(Ending.PROC_LIMIT, Reached("processes", facts.limits.processes, "count"))
    if facts.told is None and (ended.broken or facts.phase is Phase.START):
        return Verdict(Ending.INFRA_ERROR)  # none of the learner's code has run
    number = _signal(ended)
    if number is None or ended.forced or facts.told is not None:
        return None
    note = Note("signal", {"name": _name(number)})
    if number == signal.SIGXFSZ or (number == signal.SIGBUS and (ended.disk_full or ended.inodes_full)):
        return Verdict(Ending.FILE_LIMIT, _file_reached(facts))
    if number in _CRASHES:
        return Verdict(Ending.CRASH, notes=(note,))
    return Verdict(Ending.KILLED_BY_OWN_SIGNAL, notes=(note,))


def _told(facts: Facts) -> Verdict:
    """What the harness says, or, where it said nothing, the exit status."""
    told, ended = facts.told, facts.ended
    if told is None:
        status = ended.status
        if status is None or ended.forced or not os.WIFEXITED(status):
            return Verdict(Ending.INFRA_ERROR)
        if not (number := os.WEXITSTATUS(status)):
            return Verdict(Ending.NO_RESULT)
        return Verdict(Ending.EXIT_NONZERO, notes=(Note("exit_status", {"status": number}),))
    if told.fault is None:
        if told.empty:
            return Verdict(Ending.NO_RESULT, notes=(Note("empty"),))
        return Verdict(Ending.SUSPICIOUS_TIMING if told.patched else Ending.OK)
    if told.syntax:
        return Verdict(Ending.SYNTAX_ERROR)
    if told.status is not None:
        return Verdict(Ending.EXIT_NONZERO if told.status else Ending.NO_RESULT)
    return _raised(facts, told, told.fault)


def _raised(facts: Facts, told: Told, fault: Fault) -> Verdict:
    limits = facts.limits
    processes = Reached("processes", limits.processes, "count")
    full = told.refused or facts.ended.forks_refused > 0  # a pipe with nothing to read says the same of itself
    if told.errno == errno.EAGAIN and full and fault.name in {"BlockingIOError", "OSError"}:
        return Verdict(Ending.PROC_LIMIT, processes)
    if told.errno in _FULL:
        return Verdict(Ending.FILE_LIMIT, _file_reached(facts))
    if facts.device is not Device.CPU and (gpu := _of_gpu(fault)) is not None:
        return Verdict(gpu)
    if fault.name == "RuntimeError" and "can't start new thread" in fault.last_line:
        return Verdict(Ending.PY_ERROR, processes, (Note("thread_limit", {"limit": limits.processes}),))
    if fault.name == "EOFError" and "EOF when reading a line" in fault.last_line:
        return Verdict(Ending.PY_ERROR, notes=(Note("no_input"),))
    if told.errno == errno.EMFILE:
        return Verdict(Ending.PY_ERROR, notes=(Note("open_files_limit"),))
    if told.network:
        return Verdict(Ending.PY_ERROR, notes=(Note("no_network"),))
    return Verdict(Ending.PY_ERROR)


def _of_gpu(fault: Fault) -> Ending | None:
    """What the GPU's libraries say of the learner's kernels; any other process has a context of its own."""
    if fault.name == "OutOfMemoryError" or _GPU_FULL.search(fault.last_line):
        return Ending.OOM_GPU
    return Ending.GPU_FAULT if _GPU_FAULT.search(fault.last_line) else None


def _full(facts: Facts, ending: Ending) -> Reached | None:
    """Which limit it was that an error of the learner's code named."""
    match ending:
        case Ending.PROC_LIMIT:
            return Reached("processes", facts.limits.processes, "count")
        case Ending.FILE_LIMIT:
            return _file_reached(facts)
        case Ending.OOM_HOST:
            return Reached("memory_bytes", facts.limits.memory_bytes, "bytes")
        case _:
            return None


def _file_reached(facts: Facts) -> Reached:
    if facts.ended.inodes_full:
        return Reached("inodes", facts.limits.inodes, "count")
    return Reached("disk_bytes", facts.limits.disk_bytes, "bytes")


def _remarks(facts: Facts) -> tuple[Note, ...]:
    """Notes that belong to any ending."""
    notes = []
    if facts.cause is Cause.GRACE:
        notes.append(Note("did_not_exit"))
    if facts.ended.left:
        notes.append(Note("left_processes", {"count": facts.ended.left}))
    if facts.told is not None and facts.told.folded > 0:
        notes.append(Note("warnings_folded", {"count": facts.told.folded}))
    if facts.told is not None and facts.told.patched:
        notes.append(Note("clock_patched"))
    if facts.ended.oom_kills and facts.told is not None and facts.told.fault is None:
        notes.append(Note("process_out_of_memory", {"count": facts.ended.oom_kills}))
    return tuple(notes)


def _signal(ended: Ended) -> int | None:
    if ended.status is None or not os.WIFSIGNALED(ended.status):
        return None
    return os.WTERMSIG(ended.status)


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
