"""A source comes apart into a set-up and variants that keep the learner's lines; what cannot be timed is refused."""

import traceback
import types

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_runner.harness.cells import Plan, plan
from sandbox_runner.harness.functions import CellError, compiled, result_names


def call(source: str, name: str) -> object:
    """Set `source` up and call one of its variants."""
    made = plan(source, "code.py")
    names: dict[str, object] = {"__name__": "__main__"}
    exec(made.imports, names)  # noqa: S102 - what a harness does
    for code, _ in made.setup:
        exec(code, names)  # noqa: S102
    variant = next(v for v in made.variants if v.name == name)
    code = compiled(variant, "code.py", made.flags, names)
    defaults = tuple(names[parameter] for parameter in code.co_varnames[: code.co_argcount])
    return types.FunctionType(code, names, name, defaults)()


def names_of(made: Plan) -> list[str]:
    return [variant.name for variant in made.variants]


TWO = """\
import math
x = [1.0, 2.0, 3.0]

# %% loop
total = 0.0
for v in x:
    total += math.sqrt(v)

#%% built in
total = sum(map(math.sqrt, x))
"""


def test_the_first_cell_is_the_set_up_and_each_further_one_a_variant() -> None:
    made = plan(TWO, "code.py")
    assert names_of(made) == ["loop", "built in"]
    assert [variant.line for variant in made.variants] == [4, 9]
    assert [result_names(variant) for variant in made.variants] == [("total",), ("total",)]
    assert call(TWO, "loop") == pytest.approx(call(TWO, "built in"))


def test_a_marked_first_cell_with_nothing_before_it_is_the_set_up() -> None:
    assert names_of(plan('"""Words."""\n# %% setup\nx = 1\n# %% a\nx + 1\n# %% b\nx + 2\n', "c.py")) == ["a", "b"]


def test_a_cell_named_setup_after_leading_imports_belongs_to_the_set_up() -> None:
    assert names_of(plan("import math\n# %% Setup\nx = 1\n# %% a\nx\n", "c.py")) == ["a"]
    assert names_of(plan("import math\n# %% إعداد\nx = 1\n# %% حلقة\nx\n", "c.py")) == ["حلقة"]


def test_cells_without_a_name_are_numbered_and_an_empty_one_at_the_end_is_let_go() -> None:
    assert names_of(plan("x = 1\n# %%\nx\n# %% named\nx\n# %%\nx\n# %%\n", "c.py")) == ["1", "named", "3"]


def test_a_mark_inside_a_string_is_text() -> None:
    assert names_of(plan('s = """\n# %% no cell\n"""\n# %% a\nlen(s)\n', "c.py")) == ["a"]


def test_a_name_of_the_set_up_that_a_variant_assigns_starts_from_the_set_up_at_every_call() -> None:
    source = "x = 2\n# %% a\nx = x * 2\nx\n"
    made = plan(source, "c.py")
    names: dict[str, object] = {"x": 2}
    code = compiled(made.variants[0], "c.py", 0, names)
    function = types.FunctionType(code, names, "a", (2,))
    assert [function(), function(), names["x"]] == [4, 4, 2]
    assert "x" in code.co_varnames


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("del x\nx = 5\nx", 5),
        ("[x for x in range(3)]", [0, 1, 2]),
        ("f = lambda: x\nx = 7\nf()", 7),
        ("def f(x):\n    return x + 1\nf(x)", 3),
        ("import math as x\nx.floor(2.5)", 2),
        ("if (y := x) > 1:\n    x = y + 1\nx", 3),
        ("class C:\n    x = x + 1\nC.x", 3),
        ("for x in range(4):\n    pass\nx", 3),
        ("def g():\n    yield x\nnext(g())", 2),
        ("x: int = 9\nx", 9),
        ("try:\n    1 / 0\nexcept ZeroDivisionError as x:\n    y = 1\ny", 1),
        ("print; x", 2),
    ],
)
def test_bodies_mean_as_a_function_what_they_mean_as_a_cell(body: str, value: object) -> None:
    assert call(f"x = 2\n# %% a\n{body}\n", "a") == value


def test_without_a_last_expression_the_result_is_the_names_that_another_variant_assigns_too() -> None:
    source = "# %% s\nn = 3\n# %% a\nleft = n\nboth = 1\nmore = 2\nfor i in range(2): pass\n"
    source += "# %% b\nboth, (more, _x) = 3, (4, 5)\ni = 1\nprint(both)\n"
    made = plan(source, "c.py")
    assert [result_names(variant) for variant in made.variants] == [("both", "more"), ("both", "more")]
    assert call(source, "a") == (1, 2)


def test_future_imports_of_the_set_up_hold_in_the_variants() -> None:
    source = "from __future__ import annotations\n# %% s\ny = 1\n# %% a\ndef f(a: nowhere): return 1\nf(1)\n"
    assert call(source.replace("# %% s\n", ""), "a") == 1


def test_tracebacks_show_the_learners_lines_and_file() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        call("x = 0\n\n# %% a\ny = 1\nz = (y\n     / x)\nz\n", "a")
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.lineno, last.name) == ("code.py", 5, "a")


@pytest.mark.parametrize(
    ("source", "code", "line"),
    [
        ("x = 1\n# %% a\nx\n# %% a\nx\n", "cell_duplicate", 4),
        ("x = 1\n# %% a\n# nothing\n# %% b\nx\n", "cell_empty", 2),
        ("x = 1\n# %% a\nglobal x\nx = 2\n", "cell_global", 3),
        ("x = 1\n# %% a\nif x:\n    return x\n", "cell_return", 4),
        ("x = 1\n# %% a\nyield x\n", "cell_yield", 3),
        ("x = 1\n# %% a\ny = [(yield from x)]\n", "cell_yield", 3),
        ("x = 1\n# %% a\nawait x\n", "cell_await", 3),
        ("x = 1\n# %% a\nasync with x: pass\n", "cell_await", 3),
        ("x = 1\n# %% a\n[y async for y in x]\n", "cell_await", 3),
        ("x = 1\n# %% a\nfrom math import *\n", "cell_star_import", 3),
        ("def f():\n    a = 1\n# %% a\n    return a\nf()\n", "cell_inside", 3),
        ("x = 1\n" + "".join(f"# %% v{i}\nx\n" for i in range(9)), "cells_many", 18),
        ("", "nothing_to_time", None),
        ("# only words\n", "nothing_to_time", None),
        ("x = 1\ndef f():\n    return 1\n", "nothing_to_time", 2),
        ("import math\n", "nothing_to_time", 1),
    ],
)
def test_what_cannot_be_timed_is_refused_with_a_code_and_the_line(source: str, code: str, line: int | None) -> None:
    with pytest.raises(CellError) as caught:
        plan(source, "c.py")
    assert (caught.value.code, caught.value.line) == (code, line)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("x = 1\n# %% a\nx +\n", 3),
        ("x = (\n", 1),
        ("x = 1\n# %% a\nnonlocal x\n", 3),
        ("x = 1\n# %% a\nbreak\n", 3),
        ("x = 1\nreturn 5\nx\n", 2),
        ("x = 1\n%matplotlib inline\nx\n", 2),
        ("x = 1\n!pip install numpy\nx\n", 2),
        ("x = 1\nif x:\n    %timeit x\n", 3),
        ("x = 1\n%timeit\n", 2),
    ],
)
def test_what_python_cannot_read_is_a_syntax_error_at_the_learners_line(source: str, line: int) -> None:
    with pytest.raises(SyntaxError) as caught:
        plan(source, "c.py")
    assert caught.value.lineno == line


@pytest.mark.parametrize("source", ["x\0", "(" * 100_000, "-" * 200_000 + "1", "x = '\ud800'\n", "9" * 5000])
def test_hostile_text_is_a_syntax_error_and_nothing_else(source: str) -> None:
    with pytest.raises(SyntaxError):
        plan(source, "c.py")


def test_imports_and_prints_that_are_timed_are_remarked_upon() -> None:
    made = plan("x = 1\n# %% a\nimport math\nprint(x)\n# %% b\nx\n", "c.py")
    assert made.remarks == (("import_timed", 3), ("print_timed", 4))


def test_without_cells_the_last_statement_is_timed_under_its_own_text() -> None:
    source = "import math\nx = 16\nmath.sqrt(  # root\n    x)\n"
    made = plan(source, "c.py")
    assert names_of(made) == ["math.sqrt( # root x)"]
    assert call(source, names_of(made)[0]) == 4


def test_timeit_lines_are_variants_under_their_own_text() -> None:
    source = "x = [1, 2]\n%timeit -n 100 -r3 sum(x)\ny = 5\n%timeit max(x) + y\n"
    assert names_of(plan(source, "c.py")) == ["sum(x)", "max(x) + y"]
    assert call(source, "max(x) + y") == 7


def test_timeit_alone_in_a_cell_bears_the_cells_name_and_beside_others_is_refused() -> None:
    assert names_of(plan("x = [1]\n# %% a\n%timeit sum(x)\n# %% b\nsum(x)\n", "c.py")) == ["a", "b"]
    with pytest.raises(CellError) as caught:
        plan("x = [1]\n# %% a\ny = x\n%timeit sum(y)\n", "c.py")
    assert (caught.value.code, caught.value.line) == ("magic_mixed", 4)


def test_a_cell_magic_times_all_that_follows_and_its_own_line_is_set_up() -> None:
    source = "x = [1, 2]\n\n%%timeit y = 3\nz = sum(x)\nz + y\n"
    made = plan(source, "c.py")
    assert names_of(made) == ["z = sum(x) z + y"]
    assert call(source, names_of(made)[0]) == 6
    assert [statement.lineno for statement in made.variants[0].body] == [4, 5]


def test_a_line_that_begins_with_a_modulo_sign_is_no_magic() -> None:
    assert call("x = 7\ny = (x\n%timeit\n)\ny\n".replace("timeit", "4"), "y") == 3


@given(st.text(alphabet="#%a=1\n :()[]'\"x", max_size=60))
def test_no_text_makes_it_fail_in_another_way(source: str) -> None:
    try:
        made = plan(source, "c.py")
    except (SyntaxError, CellError):
        return
    assert made.variants
