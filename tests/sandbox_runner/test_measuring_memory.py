"""Answers that are remembered, on the real harness: none is believed, and who remembers nothing is named nowhere."""

import mmap
import os
import tempfile
import threading
from pathlib import Path
from typing import Any

import plain_harness
import pytest

from sandbox_runner.harness.elsewhere import MOST_BYTES, made_apart
from sandbox_runner.protocol import Ending

timed = plain_harness.timed

MAKE = "import collections, functools\nimport numpy as np\nn = 2000\ndef real(x):\n    return float(np.sort(x)[7])\n"
PLAIN = "def make(rng, n):\n    return {'x': rng.random(n)}\n"
PAIR = "# %% honest\nreal(x)\n# %% theirs\ntheirs(x)\n"
KNOWN = (
    "kept = {}\ndef make(rng, n):\n    x = rng.random(n)\n    kept[float(x[0])] = real(x)\n    return {'x': x}\n"
    "def theirs(x):\n    k = float(x[0])\n    return kept[k] if k in kept else real(x)\n"
)
FORGERIES = {
    "the last 64 by lru_cache": PLAIN + "now = [None]\n@functools.lru_cache(maxsize=64)\n"
    "def kept(k): return real(now[0])\n"
    "def theirs(x):\n    now[0] = x\n    return kept(float(x[0]))\n",
    "the last 20 objects": PLAIN + "kept = collections.OrderedDict()\ndef theirs(x):\n    k = id(x)\n"
    "    if k not in kept:\n        while len(kept) >= 20: kept.popitem(False)\n"
    "        kept[k] = (x, real(x))\n    return kept[k][1]\n",
    "known since it was made": KNOWN,
    "known since it was made, and nothing else": KNOWN.replace("kept[k] if k in kept else real(x)", "kept[k]"),
    "known since it was made, beside what cannot cross": KNOWN.replace("{'x': x}", "{'x': x, 'f': lambda: 0}"),
    "from the tenth call on": PLAIN + "last = [0, 0, 0]\ndef theirs(x):\n    k = float(x[0])\n"
    "    last[:] = [k, last[1] + 1, last[2]] if k == last[0] else [k, 0, real(x)]\n"
    "    return real(x) if last[1] < 10 else last[2]\n",
}  # fmt: skip


@pytest.mark.parametrize("how", FORGERIES)
async def test_no_remembered_answer_is_believed(how: str) -> None:
    seen = (await timed(MAKE + FORGERIES[how] + PAIR)).measured
    named = seen.ending is Ending.SUSPICIOUS_TIMING and seen.flags[-1].code == "memoised"
    assert named or (seen.ending is Ending.OK and not seen.confirmed)


HONEST = {
    "the library remembers": "import fnmatch\nimport numpy as np\ndef make(rng, n):\n    w = rng.bytes(9).hex()\n"
    "    return {'p': w + '*[a-z]?', 's': w + 'abc'}\n"
    "# %% a\nfnmatch.fnmatch(s, p)\n# %% b\nfnmatch.fnmatchcase(s, p)\n",
    "the object remembers": "import numpy as np\nn = 300_000\n"
    "def make(rng, n):\n    return {'s': rng.bytes(n).hex()}\n"
    "# %% a\nhash(s) == hash(s)\n# %% b\ns in {s}\n",
    "make leaves something beside": "import numpy as np\nn = 2000\nm = {}\ndef make(rng, n):\n"
    "    x = rng.random(n)\n    m[float(x[0])] = rng.random(n)\n    return {'x': x, 'f': lambda v: v}\n"
    "# %% a\nf(x) @ m[float(x[0])]\n# %% b\nnp.dot(x, m[float(x[0])])\n",
}


@pytest.mark.parametrize("what", HONEST)
async def test_who_remembers_nothing_of_his_own_is_not_named(what: str) -> None:
    seen = (await timed(HONEST[what])).measured
    assert (seen.ending, seen.checked) == (Ending.OK, "fresh_inputs")
    assert "memoised" not in [flag.code for flag in seen.flags]


def apart(make: Any) -> Any:  # noqa: ANN401 - as a learner's
    with Path(os.devnull).open("w") as sink:
        return made_apart(make, [3, 4], sink.fileno())


def test_inputs_made_apart_are_those_of_their_seeds_and_leave_nothing_behind() -> None:
    left: list[int] = []

    def make(seed: int) -> dict[str, object]:
        left.append(seed)
        os.write(1, b"not shown")
        return {"x": [seed] * 3, "pid": os.getpid()}

    crossed = apart(make)
    assert (crossed.how, [made["x"] for made in crossed.made]) == ("apart", [[3, 3, 3], [4, 4, 4]])
    assert left == []
    (maker,) = {made["pid"] for made in crossed.made}
    assert maker != os.getpid()
    with pytest.raises(ProcessLookupError):
        os.kill(maker, 0)


def test_what_does_not_cross_is_said_and_no_file_takes_an_answer_over() -> None:
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder, "kept")

        def writes(seed: int) -> dict[str, object]:
            kept.write_text(str(seed))
            return {"x": seed}

        assert apart(writes).how == "not"
        assert not kept.exists() or kept.read_text() == ""
    with mmap.mmap(-1, 4096) as shared:
        assert apart(lambda seed: {"x": shared[seed]}).how == "not"
    assert apart(lambda _: {"x": threading.Lock()}).how == "not"
    assert apart(lambda _: {"x": 1 / 0}).how == "not"
    assert apart(lambda _: os._exit(0)).how == "not"
    assert apart(lambda _: {"x": bytes(MOST_BYTES)}).how == "large"
