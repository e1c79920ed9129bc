"""Mistakes that the text alone shows are found however they are spelt; beside each spelling stands one without it.

Nothing runs here but the static rules of the real harness.
"""

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import mistake_data
import pytest

from sandbox_runner.harness import owntiming
from sandbox_runner.harness.mistakes import static
from sandbox_runner.mistakes import MISTAKES

if TYPE_CHECKING:
    from mistake_data import Snippet


LOOP = "ts = []\nfor _ in range(9):\n    a = pc()\n    sum(range(9))\n    b = pc()\n    ts.append(b - a)\n"
PC = "from time import perf_counter as pc\n"
GPU = "import torch as th\nx = th.rand(9, device='cuda')\n"


def found(source: str) -> set[str]:
    """Name what the rules find in a source whose last statement is timed, and what its own clock is told of."""
    tree = ast.parse(source)
    own = owntiming.find(tree.body)
    remarks = {code for code, _ in own.remarks} if own else set()
    return {finding.code for finding in static.look(tree, [tuple(tree.body[-1:])], cuda=True)} | remarks


@pytest.mark.parametrize(
    ("code", "mistake", "twin"),
    [
        pytest.param(
            "no_sync",
            PC + GPU + "a = pc()\ny = x @ x\nprint(pc() - a)\n",
            PC + GPU + "a = pc()\ny = x @ x\nth.cuda.synchronize()\nprint(pc() - a)\n",
            id="1 a clock under another name",
        ),
        pytest.param(
            "no_sync",
            "import time\nclock = time.monotonic\n" + GPU + "a = clock()\ny = x @ x\nb = clock()\nprint(b - a)\n",
            "import time\nclock = time.monotonic\n"
            + GPU
            + "a = clock()\ny = (x @ x).cpu()\nb = clock()\nprint(b - a)\n",
            id="1 a clock bound to a name",
        ),
        pytest.param(
            "timer_threads",
            "from torch.utils.benchmark import Timer as Watch\nprint(Watch('1 + 1').timeit(9).mean)\n",
            "import timeit\nfrom torch.utils.data import DataLoader\nprint(timeit.Timer('1 + 1').timeit(9))\n",
            id="20 a Timer under another name, and one of timeit",
        ),
        pytest.param(
            "own_wall_clock",
            "from time import time as now\na = now()\nsum(range(9))\nprint(now() - a)\n",
            "import time as t\na = t.clock_gettime(t.CLOCK_MONOTONIC)\nsum(range(9))\n"
            "print(t.clock_gettime(t.CLOCK_MONOTONIC) - a)\n",
            id="37 time under another name",
        ),
        pytest.param(
            "own_wall_clock",
            "from datetime import datetime\na = datetime.now()\nsum(range(9))\nprint(datetime.now() - a)\n",
            "from datetime import datetime\nprint(datetime.now())\nprint(datetime.now())\nsum(range(9))\n",
            id="37 the date",
        ),
        pytest.param(
            "own_summary",
            PC + "best = 1e9\nfor _ in [1, 2]:\n    a = pc()\n    int()\n    best = min(best, pc() - a)\nprint(best)\n",
            PC + LOOP + "print(sorted(ts)[len(ts) // 2])\n",
            id="38 the least so far, and the middle",
        ),
        pytest.param(
            "own_summary",
            PC
            + "all_ = 0\nfor _ in range(9):\n    a = pc()\n    sum(range(9))\n    all_ += pc() - a\nprint(all_ / 9)\n",
            PC + "n = 0\nfor v in range(9):\n    n += v\na = pc()\nsum(range(9))\nprint(pc() - a, n / 9)\n",
            id="38 a running mean, and a mean of something else",
        ),
        pytest.param(
            "own_summary",
            "import numpy as xp\n" + PC + LOOP + "print(xp.array(ts).mean())\n",
            "import numpy as xp\n" + PC + LOOP + "print(xp.median(xp.array(ts)))\n",
            id="38 the mean of an array",
        ),
        pytest.param(
            "own_summary",
            "from timeit import repeat as rp\nprint(min(rp('1 + 1', repeat=5)))\n",
            "import statistics\nfrom timeit import repeat as rp\nprint(statistics.median(rp('1 + 1', repeat=5)))\n",
            id="38 the least of timeit's",
        ),
        pytest.param(
            "own_summary",
            PC + "def once(f):\n    a = pc(); f(); return pc() - a\nprint(min([once(int) for _ in range(9)]))\n",
            PC + "def once(f):\n    a = pc(); f(); return pc() - a\nprint(once(int), min([3, 1, 2]))\n",
            id="38 times from a function",
        ),
        pytest.param(
            "compile_inside",
            PC + GPU + "for _ in [1, 2]:\n    a = pc()\n    th.compile(lambda q: q)(x)\n    print(pc() - a)\n",
            PC + GPU + "f = th.compile(lambda q: q)\nfor _ in [1, 2]:\n    a = pc()\n    f(x)\n    print(pc() - a)\n",
            id="27 a loop with a clock under another name",
        ),
        pytest.param(
            "empty_cache",
            "from torch.cuda import empty_cache as drop\ndef step():\n    drop()\n    return 1\nstep()\n",
            "from torch.cuda import empty_cache as drop\ndef step():\n    return 1\ndrop()\nstep()\n",
            id="23 under another name",
        ),
    ],
)
def test_a_mistake_is_found_however_it_is_spelt(code: str, mistake: str, twin: str) -> None:
    assert code in found(mistake)
    assert code not in found(twin)


def numbers(source: str) -> set[int]:
    """Give the numbers of the mistakes that the rules find."""
    return {MISTAKES[code].number for code in found(source) if code in MISTAKES}


@pytest.mark.parametrize("snippet", list(mistake_data.spelt("read", "mistake")), ids=lambda snippet: snippet.name)
def test_a_mistake_that_is_read_is_found_in_a_learner_s_spelling(snippet: "Snippet") -> None:
    assert snippet.number in numbers(snippet.source)


@pytest.mark.parametrize("snippet", list(mistake_data.spelt("read", "twin")), ids=lambda snippet: snippet.name)
def test_a_learner_s_honest_spelling_raises_no_such_alarm(snippet: "Snippet") -> None:
    assert snippet.number not in numbers(snippet.source)


def test_the_clocks_are_named_in_one_place() -> None:
    harness = Path(static.__file__).parents[1]
    naming = [path.name for path in harness.rglob("*.py") if '"time.perf_counter' in path.read_text(encoding="utf-8")]
    assert naming == ["naming.py"]


def test_a_strange_source_is_looked_at_in_a_moment() -> None:
    long = "".join(f"def f{i}():\n    return f{i + 1}()\n" for i in range(2000))
    calls = "x = []\n" + "".join(f"x.append(time.time() - {i})\n" for i in range(3000))
    classes = "".join(f"class C{i}:\n    def m{i}(self):\n        return C{i + 1}().m{i + 1}()\n" for i in range(1000))
    for source in (long + "f0()\n", "import time\n" + calls + "min(x)\n", classes + "C0().m0()\n"):
        assert static.look(ast.parse(source), [(ast.parse(source).body[-1],)]) is not None
