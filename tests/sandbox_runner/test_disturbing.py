"""What the host takes from a measured job is read from /proc, and said only where it matters."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox_runner.disturbing import Seen, look, told

TICK = os.sysconf("SC_CLK_TCK")
BEFORE = Seen(100.0, 50.0, 1.0, 10, 5)
AFTER = replace(BEFORE, cores_s=102.0, busy_s=52.0)


def host(folder: Path, stat: str, processes: dict[int, tuple[int, int, int]]) -> Path:
    """Lay out a /proc; processes are their parent, faults and forced switches by number."""
    (folder / "stat").write_text(stat)
    for pid, (parent, faults, switches) in processes.items():
        task = folder / str(pid) / "task" / str(pid)
        task.mkdir(parents=True)
        (folder / str(pid) / "stat").write_text(f"{pid} (a name) with ) in it) S {parent} 0 0 0 0 0 7 0 {faults} 0\n")
        (task / "status").write_text(
            f"Name:\tx\nvoluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t{switches}\n"
        )
    return folder


def test_only_the_measured_cores_and_what_we_started_are_counted(tmp_path: Path) -> None:
    stat = "cpu  1 1 1 1 1 1 1 1 0 0\ncpu0 9 9 9 9 9 9 9 9 0 0\ncpu1 100 0 50 200 30 1 2 17 5 0\nctxt 7\n"
    ours = os.getpid()
    processes = {ours: (1, 50, 60), 71: (ours, 4, 20), 72: (71, 3, 10), 73: (1, 1000, 1000)}
    seen = look([1], host(tmp_path, stat, processes))
    assert seen == Seen(400 / TICK, 153 / TICK, 17 / TICK, 30, 7)


def test_a_host_that_tells_nothing_takes_nothing(tmp_path: Path) -> None:
    assert look([0], tmp_path) is None
    assert told(None, AFTER, 1.0) == []
    assert told(BEFORE, None, 1.0) == []


def test_a_job_that_has_its_cores_to_itself_is_told_nothing() -> None:
    assert told(BEFORE, AFTER, 2.0) == []
    assert told(BEFORE, AFTER, None) == []


@pytest.mark.parametrize(
    ("after", "used_s", "code", "values"),
    [
        (replace(AFTER, busy_s=51.8, stolen_s=1.2), 1.8, "stolen_time", {"part": 0.1}),
        (replace(AFTER, switches=250), 1.5, "shared_cores", {"part": 0.25, "switches": 240}),
        (replace(AFTER, paged_in=105), 2.0, "paged_in", {"pages": 100}),
    ],
)
def test_what_the_host_took_is_said_where_it_matters(
    after: Seen, used_s: float, code: str, values: dict[str, float]
) -> None:
    (flag,) = told(BEFORE, after, used_s)
    assert (flag.code, flag.values) == (code, values)


def test_too_short_a_time_says_nothing_as_the_kernel_counts_in_hundredths() -> None:
    assert told(BEFORE, replace(BEFORE, cores_s=100.1, stolen_s=1.05), 0.0) == []


def test_this_host_is_read() -> None:
    seen = look(sorted(os.sched_getaffinity(0)))
    assert seen is not None
    assert seen.cores_s >= seen.busy_s > 0
