"""What a worker gives back for honest code, slow code and code that is stopped, behind real walls."""

import asyncio
import base64
import os
import signal
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from sandbox_runner.protocol import Ending, Job, JobKind, Phase, Progress
from sandbox_runner.sandbox.port import Confined, Sandbox, Staged
from sandbox_runner.worker import SandboxWorker

if TYPE_CHECKING:
    from conftest import Walls

pytestmark = pytest.mark.sandbox


async def test_output_comes_back_with_the_value_of_the_last_expression(walls: "Walls") -> None:
    result = await walls.run("print('مرحبا')\nx = 20\nx + 1")
    assert (result.ending, result.stdout.head, result.value) == (Ending.OK, "مرحبا\n", "21")


async def test_an_error_names_the_learners_own_line(walls: "Walls") -> None:
    result = await walls.run("\n\n1/0")
    assert result.ending is Ending.PY_ERROR
    assert result.fault is not None
    assert (result.fault.name, result.fault.line) == ("ZeroDivisionError", 3)
    assert 'File "code.py", line 3, in <module>\n    1/0' in result.stderr.head
    assert "/harness/" not in result.stderr.head


async def test_a_value_and_an_error_that_would_turn_the_text_around_are_shown_as_escapes(walls: "Walls") -> None:
    shown = await walls.run("class C:\n    def __repr__(self): return 'a\\u202eb\\x1b[31mc'\nC()")
    raised = await walls.run("raise ValueError('a\\u202eb')")
    assert shown.value == "a\\u202ebc"
    assert raised.fault is not None
    assert raised.fault.last_line == "ValueError: a\\u202eb"


async def test_the_learners_process_holds_no_descriptor_but_its_streams_and_the_channel(walls: "Walls") -> None:
    result = await walls.run("import os\nprint(sorted(int(fd) for fd in os.listdir('/proc/self/fd'))[:-1])")
    assert result.stdout.head == "[0, 1, 2, 3]\n"


async def test_a_chain_of_errors_keeps_both(walls: "Walls") -> None:
    source = "try:\n    1/0\nexcept ZeroDivisionError as first:\n    raise ValueError('second') from first"
    result = await walls.run(source)
    assert "ZeroDivisionError: division by zero\n\nThe above exception was the direct cause" in result.stderr.head
    assert result.stderr.head.endswith("ValueError: second\n")


async def test_a_syntax_error_names_its_line_and_runs_nothing(walls: "Walls") -> None:
    result = await walls.run("print('never')\nfor x in range(3) print(x)")
    assert (result.ending, result.stdout.bytes) == (Ending.SYNTAX_ERROR, 0)
    assert result.fault is not None
    assert (result.fault.name, result.fault.line) == ("SyntaxError", 2)


async def test_an_idle_pool_of_threads_holds_no_run_open(walls: "Walls") -> None:
    source = "from concurrent.futures import ThreadPoolExecutor\nThreadPoolExecutor(2).submit(int, '5').result()"
    result = await walls.run(source)
    assert (result.ending, result.value) == (Ending.OK, "5")


@pytest.mark.parametrize("source", ["", "# nothing", "\n\n  # indented\n"])
async def test_a_source_without_a_statement_is_no_result(walls: "Walls", source: str) -> None:
    assert (await walls.run(source)).ending is Ending.NO_RESULT


async def test_asking_for_input_is_answered_by_a_hint(walls: "Walls") -> None:
    result = await walls.run("name = input('name? ')")
    assert result.ending is Ending.PY_ERROR
    assert [note.code for note in result.notes] == ["no_input"]


async def test_a_figure_left_open_comes_back_as_a_picture(walls: "Walls") -> None:
    limits = replace(walls.small, memory_bytes=600 << 20)
    result = await walls.run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()", limits)
    assert result.ending is Ending.OK, result.stderr
    (file,) = result.files
    assert (file.name, file.media) == ("figure_1.png", "image/png")
    assert base64.b64decode(file.data).startswith(b"\x89PNG")
    assert result.stderr.bytes == 0


async def test_a_figure_saved_and_left_open_comes_back_once_under_the_learners_name(walls: "Walls") -> None:
    limits = replace(walls.small, memory_bytes=600 << 20)
    result = await walls.run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.savefig('mine.png')", limits)
    assert [file.name for file in result.files] == ["mine.png"]


async def test_files_come_back_and_others_are_named(walls: "Walls") -> None:
    source = (
        "import os\nos.mkdir('out')\nopen('out/a.csv', 'w').write('1,2')\nopen('b.exe', 'w').write('x')\n"
        "open('c.json', 'w').write('{}')"
    )
    result = await walls.run(source)
    assert [(file.name, base64.b64decode(file.data)) for file in result.files] == [
        ("c.json", b"{}"),
        ("out_a.csv", b"1,2"),
    ]
    (note,) = result.notes
    assert (note.code, note.values["count"], note.values["name_1"], note.values["why_1"]) == (
        "files_skipped",
        1,
        "b.exe",
        "kind",
    )


async def test_long_output_keeps_head_tail_and_the_last_line(walls: "Walls") -> None:
    limits = replace(walls.small, output_kept_bytes=2000, output_ceiling_bytes=8 << 20)
    result = await walls.run("for i in range(100000): print(i)\nraise ValueError('the end')", limits)
    assert result.ending is Ending.PY_ERROR
    assert result.stdout.head.startswith("0\n1\n2\n")
    assert result.stdout.tail.endswith("99998\n99999\n")
    assert result.stdout.dropped == result.stdout.bytes - 2000
    assert result.stderr.head.endswith("ValueError: the end\n")


async def test_what_was_printed_before_a_time_out_is_kept(walls: "Walls") -> None:
    result = await walls.run("print('begun')\nwhile True: pass", replace(walls.small, run_s=0.8))
    assert (result.ending, result.stdout.head) == (Ending.TIMEOUT_RUN, "begun\n")
    assert result.reached is not None
    assert (result.reached.name, result.reached.value, result.reached.unit) == ("run_s", 0.8, "s")


async def test_a_time_out_of_waiting_code_says_that_it_computed_nothing(walls: "Walls") -> None:
    result = await walls.run("import time\ntime.sleep(99)", replace(walls.small, run_s=0.8))
    assert result.ending is Ending.TIMEOUT_WALL
    assert "used_no_cpu" in {note.code for note in result.notes}


@dataclass
class Uncounted:
    """Walls whose jobs compute more between two looks at their time than they may: nobody has counted it yet."""

    sandbox: Sandbox

    async def start(self, job: Staged) -> Confined:
        confined = await self.sandbox.start(job)
        confined.cpu_s = lambda: None  # type: ignore[method-assign]
        return confined

    async def close(self) -> None:
        """Nothing is kept here."""


async def test_a_job_that_the_kernel_ends_for_its_time_before_our_count_does_reached_its_limit(walls: "Walls") -> None:
    own = "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 1))\nwhile True: pass"
    worker = SandboxWorker(Uncounted(walls.sandbox), walls.worker.machine, grace_s=1.0)
    job = Job("a", JobKind.RUN, own, "learner", limits=replace(walls.small, cpu_s=0.5))
    result = await worker.run_job(job, 0, lambda _: None)
    assert (result.ending, result.reached and result.reached.name) == (Ending.CPU_LIMIT, "cpu_s")


def test_the_kernels_limit_of_time_lies_beyond_what_all_cores_compute_between_two_looks(walls: "Walls") -> None:
    staged = Staged("a", b"", "code.py", replace(walls.small, cpu_s=30.0))
    spare = walls.sandbox.host.rlimits(staged)["CPU"] - 30
    assert spare >= 1.0 * len(os.sched_getaffinity(0))
    assert walls.sandbox.host.rlimits(staged, counted=False)["CPU"] == 31


def test_idle_threads_that_libraries_make_on_many_cores_count_beside_a_jobs_own(
    walls: "Walls", monkeypatch: pytest.MonkeyPatch
) -> None:
    host, staged = walls.sandbox.host, Staged("a", b"", "code.py", walls.small)
    for cores, spare in ((1, 0), (2, 0), (16, 42), (64, 186)):
        monkeypatch.setattr("os.sched_getaffinity", lambda _, cores=cores: set(range(cores)))
        counted = host.cgroups is not None  # there the group's limit is met first, which counts what it refuses
        wanted = walls.small.processes + host.policy.spare_processes + spare + counted
        assert host.rlimits(staged)["NPROC"] == wanted
        assert host.setting(own_kernel=False).spare == spare
        assert host.setting(own_kernel=True).spare == 0


async def test_warnings_of_one_place_are_folded(walls: "Walls") -> None:
    result = await walls.run("import warnings\nfor i in range(100): warnings.warn(f'w{i}')")
    assert result.stderr.head.count("UserWarning") == 5
    (note,) = result.notes
    assert (note.code, note.values) == ("warnings_folded", {"count": 95})


async def test_a_forked_child_has_no_say(walls: "Walls") -> None:
    source = "import os\nif os.fork() == 0:\n    1/0\nelse:\n    os.wait()\n    print('parent')"
    result = await walls.run(source)
    assert (result.ending, result.stdout.head) == (Ending.OK, "parent\n")
    assert "ZeroDivisionError" in result.stderr.head


async def test_multiprocessing_by_spawn_finds_the_learners_file(walls: "Walls") -> None:
    source = (
        "import multiprocessing as m\n\ndef double(x):\n    return 2 * x\n\nif __name__ == '__main__':\n"
        "    with m.get_context('spawn').Pool(2) as pool:\n        print(pool.map(double, [1, 2]))"
    )
    result = await walls.run(source)
    assert (result.ending, result.stdout.head) == (Ending.OK, "[2, 4]\n"), result.stderr


async def test_shared_memory_pools_and_threads_go_on_working(walls: "Walls") -> None:
    source = (
        "import multiprocessing as m, threading\nfrom multiprocessing import shared_memory\n"
        "s = shared_memory.SharedMemory(create=True, size=1000); s.close(); s.unlink()\n"
        "with m.get_context('fork').Pool(2) as pool: print(pool.map(abs, [-1, -2]))\n"
        "t = threading.Thread(target=print, args=('thread',)); t.start()"
    )
    result = await walls.run(source)
    assert (result.ending, result.stdout.head) == (Ending.OK, "[1, 2]\nthread\n"), result.stderr


async def test_phases_are_told_and_timed(walls: "Walls") -> None:
    heard: list[Phase] = []

    def hear(progress: Progress) -> None:
        heard.append(progress.phase)

    job = Job("a", JobKind.RUN, "import numpy\nprint(1)", "learner", limits=walls.small)
    result = await walls.worker.run_job(job, 0, hear)
    assert heard == [Phase.START, Phase.IMPORT, Phase.RUN]
    assert {"start", "import", "run", "collect"} <= set(result.phases_ms)
    assert result.phases_ms["import"] > result.phases_ms["run"]


async def test_a_cancelled_job_ends_within_a_second_and_leaves_nothing(walls: "Walls") -> None:
    job = Job("a", JobKind.RUN, "import os\nos.fork()\nwhile True: pass", "learner", limits=walls.small)
    entered = asyncio.Event()

    def hear(progress: Progress) -> None:
        if progress.phase is Phase.RUN:
            entered.set()

    running = asyncio.create_task(walls.worker.run_job(job, 0, hear))
    await entered.wait()
    began = time.monotonic()
    running.cancel()
    result = await running
    assert result.ending is Ending.CANCELLED
    assert time.monotonic() - began < 1.0
    assert walls.survivors() == []


async def test_two_slots_run_at_once_under_uids_of_their_own(walls: "Walls") -> None:
    source = (
        "import os, time\nopen('/tmp/mine', 'w').write('x')\ntime.sleep(0.2)\nprint(os.getuid(), os.listdir('/tmp'))"
    )
    first, second = await asyncio.gather(walls.run(source, slot=0), walls.run(source, slot=1))
    assert first.ending is second.ending is Ending.OK
    assert first.stdout.head.split()[1:] == second.stdout.head.split()[1:]
    if "uid_per_slot" in walls.sandbox.walls:
        assert first.stdout.head.split()[0] != second.stdout.head.split()[0]


async def test_the_sandbox_says_nothing_of_the_host_in_its_environment(walls: "Walls") -> None:
    result = await walls.run("import os\nprint(sorted(os.environ))")
    assert result.stdout.head == (
        "['HOME', 'LANG', 'LOGNAME', 'MKL_NUM_THREADS', 'MPLBACKEND', 'MPLCONFIGDIR', 'NUMEXPR_NUM_THREADS', "
        "'OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'PATH', 'PWD', 'TMPDIR', 'TZ', 'USER']\n"
    )


async def test_a_timing_is_measured_behind_the_walls(walls: "Walls") -> None:
    source = "# %% set-up\nx = list(range(20000))\n# %% loop\nsum([v for v in x])\n# %% built in\nsum(x)"
    result = await walls.run(source, kind=JobKind.TIME)
    assert result.ending is Ending.OK, (result.fault, result.stderr)
    assert [variant.name for variant in result.variants] == ["loop", "built in"]
    assert result.ratios[0].against == "loop"
    assert walls.survivors() == []


async def test_an_error_in_a_timed_variant_names_its_line(walls: "Walls") -> None:
    result = await walls.run("# %% set-up\nx = 1\n# %% a\nx + 1\n# %% b\nx / 0", kind=JobKind.TIME)
    assert result.ending is Ending.PY_ERROR
    assert result.fault is not None
    assert (result.fault.name, result.fault.line) == ("ZeroDivisionError", 6)


async def test_a_crash_in_a_timed_variant_is_a_crash(walls: "Walls") -> None:
    result = await walls.run("# %% set-up\nimport os\n# %% a\n1\n# %% b\nos.abort()", kind=JobKind.TIME)
    assert result.ending is Ending.CRASH
    assert [note.values for note in result.notes] == [{"name": "SIGABRT"}]


@pytest.mark.parametrize(
    ("cell", "ending", "limit"),
    [
        ("open('/tmp/x', 'wb').write(bytes(64 << 20))", Ending.FILE_LIMIT, "disk_bytes"),
        ("import os\nheld = [os.fork() or time.sleep(9) for _ in range(99)]", Ending.PROC_LIMIT, "processes"),
    ],
)
async def test_a_full_disk_and_too_many_processes_are_named_in_a_timing_too(
    walls: "Walls", cell: str, ending: Ending, limit: str
) -> None:
    source = f"import time\n# %% a\nx = 1\n# %% b\n{cell}\n"
    result = await walls.run(source, kind=JobKind.TIME)
    assert (result.ending, result.reached and result.reached.name) == (ending, limit), (result.fault, result.flags)
    assert walls.survivors() == []


async def test_a_job_has_plain_signals_whatever_the_runner_ignores(walls: "Walls") -> None:
    before = signal.signal(signal.SIGQUIT, signal.SIG_IGN)  # as a runner has it that a script starts with `&`
    try:
        result = await walls.run("import signal as s\nprint(s.getsignal(s.SIGQUIT) is s.SIG_DFL)")
    finally:
        signal.signal(signal.SIGQUIT, before)
    assert result.stdout.head == "True\n"
