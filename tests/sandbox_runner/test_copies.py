"""Each block meets its code, and the numbers that it makes, at another place; nothing but the place differs."""

import types

import plain_harness
import pytest

from sandbox_runner.harness.copies import PLACES, Copies, Movable, stir
from sandbox_runner.protocol import Ending

SOURCE = """
def plain(x):
    return [one * x for one in range(3)]

class Kind:
    own = None
    def method(self):
        return (lambda: 7)()

Kind.own = Kind
named = plain
"""


def names_of(source: str) -> dict[str, object]:
    names: dict[str, object] = {"__name__": "__main__"}
    exec(compile(source, "code.py", "exec"), names)  # noqa: S102 - what a harness does
    return names


def inner(code: types.CodeType) -> list[types.CodeType]:
    return [const for const in code.co_consts if isinstance(const, types.CodeType)]


def test_copies_do_the_same_and_share_no_place_nor_do_those_of_what_is_defined_within() -> None:
    names = names_of("def outer():\n    def nested():\n        return 5\n    return nested()\n")
    function = names["outer"]
    assert isinstance(function, types.FunctionType)
    copies = Copies(function.__code__).filled()
    codes = [copies.at(turn) for turn in range(PLACES)]
    assert {types.FunctionType(code, {})() for code in codes} == {5}
    assert len({id(code) for code in codes}) == len({id(inner(code)[0]) for code in codes}) == PLACES
    assert copies.at(0) is copies.at(PLACES) is function.__code__
    assert len({(code.co_filename, code.co_firstlineno, tuple(code.co_positions())) for code in codes}) == 1


def test_a_large_piece_of_code_has_fewer_copies() -> None:
    code = compile("\n".join(f"a = b{i}" for i in range(20_000)), "code.py", "exec")
    copies = Copies(code).filled()
    assert len({id(copies.at(turn)) for turn in range(PLACES)}) < PLACES


def test_functions_and_methods_of_the_file_are_moved_and_those_of_others_are_not() -> None:
    names = names_of(SOURCE) | {"theirs": pytest.deprecated_call, "kinds": [1]}
    before = pytest.deprecated_call.__code__
    movable = Movable(names, SOURCE, "code.py")
    plain, kind = names["plain"], names["Kind"]
    assert isinstance(plain, types.FunctionType)
    assert isinstance(kind, type)
    places = set()
    for turn in range(5):
        movable.move(turn)
        method = kind.__dict__["method"]
        places.add((id(plain.__code__), id(method.__code__)))
        assert (plain(2), method(None)) == ([0, 2, 4], 7)
    assert len(places) == 5
    assert pytest.deprecated_call.__code__ is before


@pytest.mark.parametrize("says", ["fast = torch.compile(f)", "@numba.njit", "f.__code__"])
def test_functions_that_somebody_knows_by_their_code_keep_it(says: str) -> None:
    source = "def f():\n    return 1\n"
    names = names_of(source)
    function = names["f"]
    assert isinstance(function, types.FunctionType)
    before = function.__code__
    Movable(names, f"{source}# {says}\n", "code.py").move(3)
    assert function.__code__ is before


def test_what_is_held_differs_from_block_to_block() -> None:
    sizes = {str(stir(turn)) for turn in range(20)}
    assert len(sizes) > 10


MOVED = """
import sys
seen = {"f": set(), "one": set(), "two": set()}
def f():
    seen["f"].add(id(sys._getframe().f_code))
MAKE
# %% one
f()
seen["one"].add(id(sys._getframe().f_code))
# %% two
seen["two"].add(id(sys._getframe().f_code))
if len(seen["two"]) > 9 and len(seen["one"]) > 9 and len(seen["f"]) > 9:
    raise ValueError("moved")
"""


@pytest.mark.parametrize("make", ["", "def make(rng, n):\n    return {'x': 1}"])
async def test_blocks_of_a_measuring_meet_their_code_at_many_places(make: str) -> None:
    seen = await plain_harness.timed(MOVED.replace("MAKE", make))
    assert seen.measured.fault is not None
    assert seen.measured.fault.last_line == "ValueError: moved"
    assert seen.measured.fault.line == 13 + bool(make)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(
            "def fill():\n    global result\n    result = [i * i for i in range(300)]\n    return result\n"
            "# %% loop\nfill()\n# %% comp\nresult = [i * i for i in range(300)]\n",
            id="a name of the variant's own comes to be while it is measured",
        ),
        pytest.param(
            "import torch\nx = torch.ones(64)\ndef up(x):\n    return x.sin()\ndef down(x):\n    return x.cos()\n"
            "# %% cond\ntorch.cond(x.sum() > 0, up, down, (x,))\n# %% plain\nx.sin()\n",
            id="torch's compiler is come to by another word",
        ),
        pytest.param(
            "def make(n):\n    return list(range(n))\nimport time\nx = make(10_000)\nt = time.perf_counter()\n"
            "y = sorted(x)\nprint(time.perf_counter() - t)\n",
            id="a source with a clock of its own has a function that is called make",
        ),
        pytest.param(
            "import numpy as np\ndef make(rng, n):\n    return {'d': rng.random(2000).tolist()}\n"
            "# %% in place\nd.sort()\n# %% new\nsorted(d)\n",
            id="inputs are changed, which is no memory",
        ),
    ],
)
async def test_what_is_honest_is_measured_and_not_accused(source: str) -> None:
    seen = await plain_harness.timed(source)
    assert seen.measured.fault is None, seen.stderr
    assert seen.measured.ending is Ending.OK
    assert not {flag.code for flag in seen.measured.flags} & {"memoised", "recompiles", "late_work", "skipped_work"}


async def test_what_compiles_in_a_variant_by_a_word_put_together_is_compiled_once() -> None:
    source = "import torch\nx = torch.ones(8)\ndef f(x):\n    return x + 1\nfast = getattr(torch, 'com' + 'pile')(f"
    seen = await plain_harness.timed(f"{source}, backend='eager')\n# %% fast\nfast(x)\n# %% plain\nf(x)\n")
    assert seen.measured.ending is Ending.OK, seen.measured.fault
    assert "recompiles" not in {flag.code for flag in seen.measured.flags}
