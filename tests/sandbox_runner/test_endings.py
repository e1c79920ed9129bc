"""How an ending is told: what was seen outside comes first, the harness is believed only about the learner's code."""

import errno
import os
import signal
from dataclasses import replace
from typing import Any

import pytest

from sandbox_runner.endings import Cause, Facts, Told, judge, judge_measured, read_told
from sandbox_runner.protocol import Device, Ending, Fault, Limits, Note, Phase
from sandbox_runner.sandbox.port import Ended

CLEAN = Ended(status=0)
FACTS = Facts(Cause.NONE, Phase.RUN, CLEAN, Told(), Limits(), wall_s=10.0, used_s=9.0)


def _raised(name: str, last: str = "", number: int = 0, **more: Any) -> Facts:  # noqa: ANN401 - Told's own
    told = Told(fault=Fault(name, last or name, 1), errno=number, **more)
    return replace(FACTS, ended=Ended(status=1 << 8), told=told)


def _ended(status: int, **more: Any) -> Facts:  # noqa: ANN401 - Ended's own
    return replace(FACTS, told=None, ended=Ended(status=status, **more))


def test_an_exit_behind_pythons_back_tells_its_status() -> None:
    assert judge(_ended(3 << 8)).notes == (Note("exit_status", {"status": 3}),)


@pytest.mark.parametrize(
    ("facts", "ending"),
    [
        (FACTS, Ending.OK),
        (replace(FACTS, told=Told(empty=True)), Ending.NO_RESULT),
        (replace(FACTS, told=Told(patched=True)), Ending.SUSPICIOUS_TIMING),
        (_raised("ValueError"), Ending.PY_ERROR),
        (_raised("SyntaxError", syntax=True), Ending.SYNTAX_ERROR),
        (_raised("SystemExit", status=0), Ending.NO_RESULT),
        (_raised("SystemExit", status=137), Ending.EXIT_NONZERO),
        (_raised("BlockingIOError", number=errno.EAGAIN, refused=True), Ending.PROC_LIMIT),
        (
            replace(_raised("BlockingIOError", number=errno.EAGAIN), ended=Ended(1 << 8, forks_refused=3)),
            Ending.PROC_LIMIT,
        ),
        (_raised("BlockingIOError", number=errno.EAGAIN), Ending.PY_ERROR),
        (_raised("OSError", number=errno.ENOSPC), Ending.FILE_LIMIT),
        (_raised("OSError", number=errno.EFBIG), Ending.FILE_LIMIT),
        (_raised("OutOfMemoryError"), Ending.PY_ERROR),
        (replace(_raised("OutOfMemoryError"), device=Device.CUDA), Ending.OOM_GPU),
        (
            replace(
                _raised("AcceleratorError", "CUDA error: an illegal memory access was encountered"), device=Device.CUDA
            ),
            Ending.GPU_FAULT,
        ),
        (
            replace(_raised("RuntimeError", "Triton Error [CUDA]: misaligned address"), device=Device.CUDA),
            Ending.GPU_FAULT,
        ),
        (replace(_raised("AcceleratorError", "CUDA error: out of memory"), device=Device.CUDA), Ending.OOM_GPU),
        (replace(_raised("AcceleratorError", "CUDA error: invalid argument"), device=Device.CUDA), Ending.PY_ERROR),
        (_raised("RuntimeError", "CUDA error: an illegal memory access was encountered"), Ending.PY_ERROR),
        (replace(FACTS, cause=Cause.TIME, told=None, device=Device.CUDA, gpu_hung=True), Ending.GPU_HANG),
        (replace(FACTS, cause=Cause.TIME, told=None, phase=Phase.COMPILE, gpu_hung=True), Ending.GPU_HANG),
        (replace(FACTS, cause=Cause.CANCELLED, told=None, device=Device.CUDA, gpu_hung=True), Ending.CANCELLED),
        (_ended(0), Ending.NO_RESULT),
        (_ended(137 << 8), Ending.EXIT_NONZERO),
        (_ended(signal.SIGKILL), Ending.KILLED_BY_OWN_SIGNAL),
        (_ended(signal.SIGTERM), Ending.KILLED_BY_OWN_SIGNAL),
        (_ended(signal.SIGSEGV), Ending.CRASH),
        (_ended(signal.SIGABRT), Ending.CRASH),
        (_ended(signal.SIGXCPU, cpu_s=Limits().cpu_s), Ending.CPU_LIMIT),
        (_ended(signal.SIGXCPU), Ending.KILLED_BY_OWN_SIGNAL),
        (_ended(signal.SIGKILL, cpu_s=Limits().cpu_s), Ending.CPU_LIMIT),
        (_ended(signal.SIGKILL, cpu_s=Limits().cpu_s - 0.1), Ending.KILLED_BY_OWN_SIGNAL),
        (_ended(signal.SIGTERM, cpu_s=Limits().cpu_s), Ending.KILLED_BY_OWN_SIGNAL),
        (_ended(signal.SIGKILL, cpu_s=Limits().cpu_s, canary_signal=9), Ending.KILLED_BY_OWN_SIGNAL),
        (_ended(signal.SIGKILL, cpu_s=Limits().cpu_s, oom_kills=1), Ending.OOM_HOST),
        (_ended(signal.SIGKILL, cpu_s=Limits().cpu_s, watchdog="memory_bytes"), Ending.OOM_HOST),
        (_ended(signal.SIGXFSZ), Ending.FILE_LIMIT),
        (_ended(signal.SIGBUS), Ending.CRASH),
        (_ended(signal.SIGBUS, disk_full=True), Ending.FILE_LIMIT),
        (_ended(signal.SIGKILL, oom_kills=1), Ending.OOM_HOST),
        (_ended(signal.SIGKILL, watchdog="memory_bytes"), Ending.OOM_HOST),
        (_ended(signal.SIGKILL, watchdog="processes"), Ending.PROC_LIMIT),
        (replace(_ended(0), ended=Ended(status=None, broken="the report ended early")), Ending.INFRA_ERROR),
        (replace(_ended(0), ended=Ended(status=None, broken="so", forks_refused=1)), Ending.PROC_LIMIT),
        (replace(_ended(0), ended=Ended(status=None, oom_kills=1, broken="the report ended early")), Ending.OOM_HOST),
        (replace(FACTS, ended=Ended(status=0, canary_signal=9)), Ending.KILLED_BY_OWN_SIGNAL),
        (replace(FACTS, ended=Ended(status=0, canary_signal=9, oom_kills=1)), Ending.OK),
        (replace(FACTS, cause=Cause.CANCELLED), Ending.CANCELLED),
        (replace(FACTS, cause=Cause.TAMPERED), Ending.TAMPERED),
        (replace(FACTS, cause=Cause.OUTPUT), Ending.OUTPUT_LIMIT),
        (replace(FACTS, cause=Cause.CPU), Ending.CPU_LIMIT),
        (replace(FACTS, cause=Cause.GRACE), Ending.OK),
        (replace(FACTS, cause=Cause.TIME, told=None), Ending.TIMEOUT_RUN),
        (replace(FACTS, cause=Cause.TIME, told=None, used_s=0.2), Ending.TIMEOUT_WALL),
        (replace(FACTS, cause=Cause.TIME, told=None, phase=Phase.COMPILE), Ending.TIMEOUT_COMPILE),
        (replace(FACTS, cause=Cause.TIME, told=None, phase=Phase.IMPORT), Ending.INFRA_ERROR),
        (replace(FACTS, cause=Cause.TIME, told=None, phase=Phase.START), Ending.INFRA_ERROR),
        (replace(_ended(127 << 8), phase=Phase.START), Ending.INFRA_ERROR),
        (replace(_ended(0), phase=Phase.START), Ending.INFRA_ERROR),
    ],
)
def test_an_ending_has_one_name(facts: Facts, ending: Ending) -> None:
    assert judge(facts).ending is ending


def test_a_launchers_137_is_no_kill() -> None:
    assert judge(_ended(137 << 8)).ending is Ending.EXIT_NONZERO
    assert os.WEXITSTATUS(137 << 8) == 128 + signal.SIGKILL


def test_a_limit_that_was_reached_is_named_with_its_value() -> None:
    limits = Limits(memory_bytes=1 << 20)
    reached = judge(replace(_ended(signal.SIGKILL, oom_kills=1), limits=limits)).reached
    assert reached is not None
    assert (reached.name, reached.value, reached.unit) == ("memory_bytes", 1 << 20, "bytes")


def test_a_full_folder_is_told_from_too_many_names() -> None:
    facts = _raised("OSError", number=errno.ENOSPC)
    inodes = judge(replace(facts, ended=Ended(status=256, inodes_full=True))).reached
    space = judge(replace(facts, ended=Ended(status=256, disk_full=True))).reached
    assert inodes is not None
    assert space is not None
    assert (inodes.name, space.name) == ("inodes", "disk_bytes")


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (_raised("EOFError", "EOFError: EOF when reading a line"), "no_input"),
        (_raised("gaierror", network=True), "no_network"),
        (_raised("RuntimeError", "RuntimeError: can't start new thread"), "thread_limit"),
        (_raised("OSError", number=errno.EMFILE), "open_files_limit"),
        (replace(FACTS, cause=Cause.GRACE), "did_not_exit"),
        (replace(FACTS, ended=Ended(status=0, left=2)), "left_processes"),
        (replace(FACTS, told=Told(folded=7)), "warnings_folded"),
    ],
)
def test_a_hint_comes_as_a_note(facts: Facts, code: str) -> None:
    assert code in {note.code for note in judge(facts).notes}


def test_a_timing_keeps_its_own_ending_unless_more_was_seen_outside() -> None:
    assert judge_measured(FACTS, Ending.WRONG_RESULT, None).ending is Ending.WRONG_RESULT
    killed = replace(FACTS, ended=Ended(status=0, canary_signal=9))
    assert judge_measured(killed, Ending.OK, None).ending is Ending.KILLED_BY_OWN_SIGNAL
    waiting = replace(FACTS, used_s=0.0)
    assert judge_measured(waiting, Ending.TIMEOUT_RUN, None).ending is Ending.TIMEOUT_WALL
    hung = replace(FACTS, device=Device.CUDA, gpu_hung=True)
    assert judge_measured(hung, Ending.TIMEOUT_RUN, None).ending is Ending.GPU_HANG


@pytest.mark.parametrize(
    "said",
    [
        {"fault": "a text"},
        {"fault": {"name": 1, "last_line": "x"}},
        {"fault": {"name": "x"}},
        {"value": 3},
        {"folded": "many"},
        {"folded": 10**23},
        {"folded": -1},
    ],
)
def test_a_word_of_another_form_is_none(said: dict[str, object]) -> None:
    assert read_told(said) is None


def test_an_absurd_line_number_is_left_out() -> None:
    told = read_told({"fault": {"name": "E", "last_line": "E", "line": -3}})
    assert told is not None
    assert told.fault == Fault("E", "E", None)
