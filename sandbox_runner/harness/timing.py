"""Serves one timing job: takes the source apart, sets it up, and runs what the parent asks for, one thing at a time.

Law: nothing is decided here. Seeds, order, block sizes and the end come from outside, and every figure said
here is a claim that the parent's own clock checks. Private references to clocks are taken at import, before any of
the learner's code has run.
"""

import contextlib
import linecache
import sys
import types
from typing import Any

from . import blocks, counting
from .cells import Plan, plan, task
from .copies import Moving
from .driver import own_ns
from .elsewhere import MOST_BYTES, Crossed, forget, made_apart
from .faults import tell
from .functions import CellError, Variant, compiled, result_names, takes_two
from .insight import look, told
from .inspecting import Called, Inspector
from .listening import Ears
from .mistakes.changing import only_filled
from .outputs import marks, piece, pieces_of, widened
from .wire import HungUpError, Line

DEFAULT_SIZE = 1000
_MOST_SIZE = 1 << 40
_SHOWN_ELEMENTS, _WATCHED_ELEMENTS = 1 << 19, 1 << 17
_SHORT_NS = 1_000_000_000
_modules = sys.modules


class _Fault(Exception):  # noqa: N818 - carries the learner's error to the line
    """The learner's code failed; `said` is what is told of it."""

    def __init__(self, said: dict[str, object]) -> None:
        super().__init__()
        self.said = said


Answer = tuple[bytes, dict[str, object]]


def serve(line: Line, source: str, filename: str) -> None:
    """Answer what is asked on `line` about `source` until the parent hangs up."""
    bench = _Bench(source, filename)
    asks: dict[str, Any] = {
        name: getattr(bench, name)
        for name in (
            *("pin", "parse", "task", "imports", "setup", "fresh", "first", "result", "wide"),
            *("prepare", "arrange", "restore", "go", "mark", "reveal", "calm", "hold"),
            *("look", "instrument", "count", "listen", "insight"),
        )
    }
    while True:
        try:
            asked = line.receive()
        except HungUpError:
            return
        nonce, op = asked.pop("nonce", None), asked.pop("op", None)
        try:
            payload, said = asks[str(op)](**asked)
        except _Fault as fault:
            payload, said = b"", {"fault": fault.said}
        line.answer(nonce, payload, **said)


class _Bench:
    """One source, taken apart and set up in a `__main__` of its own."""

    def __init__(self, source: str, filename: str) -> None:
        self._source, self._filename = source, filename
        self._plan: Plan | None = None
        self._sets: dict[int, list[tuple[blocks.Inputs, blocks.Function]]] = {}
        self._kept: dict[int, object] = {}
        self._before: dict[int, list[tuple[blocks.Inputs, blocks.Function]]] = {}
        self._prepared: list[tuple[blocks.Inputs, blocks.Function]] = []
        self._sizes: set[blocks.Place] = set()
        self._make: blocks.Function | None = None
        self._moving = Moving(self._compiled, blocks.frames_seen)
        self._task = False
        self._main = types.ModuleType("__main__")
        self._names = self._main.__dict__
        self._names.update(__file__=filename, __builtins__=__builtins__)
        self._sink = blocks.open_sink()
        self._inspector = Inspector(source, filename)
        self._ears = Ears(filename)

    def pin(self, threads: int, cores: list[int], *, cuda: bool = False) -> Answer:
        """Fix threads and cores before anything that computes is imported; say which cores are had."""
        return b"", {"cores": blocks.pin(threads, cores, cuda=cuda)}

    def parse(self) -> Answer:
        """Take the source apart: the variants' names, lines and the names of what they return, and remarks."""
        self._remember_lines()
        try:
            self._plan = plan(self._source, self._filename)
        except CellError as refused:
            raise _Fault({"name": "SyntaxError", "last_line": f"SyntaxError: {refused}", "line": refused.line,
                          "code": refused.code}) from None  # fmt: skip
        except (SyntaxError, ValueError) as wrong:
            raise _Fault(_told(wrong, self._filename)) from None
        except (RecursionError, MemoryError):
            raise _Fault({"name": "SyntaxError", "last_line": "SyntaxError: too deeply nested"}) from None
        variants = [{"name": v.name, "line": v.line, "result": list(result_names(v))} for v in self._plan.variants]
        remarks = [list(remark) for remark in self._plan.remarks]
        return b"", {"variants": variants, "remarks": remarks, "own": self._plan.own}

    def task(self, make: str) -> Answer:
        """Take the source as an exercise's: `solve` is what is timed, on what the `make` of the source given makes."""
        self._remember_lines()
        given: dict[str, Any] = {"__builtins__": __builtins__, "__name__": "make"}
        self._call(exec, compile(make, "make.py", "exec", dont_inherit=True), given)
        self._make = given["make"]
        try:
            self._plan = task(self._source, self._filename, list(self._drawn(1, 2)))
        except SyntaxError as wrong:
            raise _Fault(_told(wrong, self._filename)) from None
        self._task = True
        return b"", {}

    def imports(self) -> Answer:
        """Run the imports that lead the set-up."""
        sys.modules["__main__"] = self._main
        self._run(self._planned.imports)
        return b"", {}

    def setup(self) -> Answer:
        """Run the rest of the set-up and make the variants; say whether it defines `make`, its `n`, and own times."""
        own: list[int] = []
        places = self._planned.places
        taken = [self._names] * len(self._planned.variants)
        for done, (code, timed) in enumerate(self._planned.setup, 1):
            self._take_names(taken, places, done - 1)
            start = blocks.clock()
            self._run(code)
            own += [blocks.clock() - start] if timed else []
            self._inspector.ran(timed=timed)
        self._moving.take(self._names, self._source, self._filename)
        if self._task:
            self._names = self._call_names()
            return b"", {"makes": True, "n": DEFAULT_SIZE}
        make = self._names.get("make")
        self._make = make if type(make) is blocks.Function and takes_two(make) else None
        size = self._names.get("n", DEFAULT_SIZE)
        size = size if type(size) is int and 0 < size < _MOST_SIZE else DEFAULT_SIZE
        if self._planned.own:  # it is timed on what its own run left, whatever its functions are called
            self._make = None
        if self._make is None:
            self._inspector.remember(self._names)
            self._sets = {i: [({}, self._function(v, taken[i]))] for i, v in enumerate(self._planned.variants)}
        return b"", {"makes": self._make is not None, "n": size, "own": own}

    def fresh(self, seed: int, n: int, decoy: int | None = None) -> Answer:
        """Let the set-up's `make(rng, n)` make the inputs anew, for every variant; name their coarsest precision.

        `decoy` is a seed for inputs that nobody is given: what `make` remembers beside its inputs is then of others.
        """
        made = self._made(seed, n, decoy)
        self._sets = {i: [(made, self._function(v))] for i, v in enumerate(self._planned.variants)}
        self._call(blocks.synchronize)
        return b"", {"coarsest": widened(made)[1]}

    def first(self, variant: int, share: float) -> Answer:
        """Call a variant for the first time, with its output shown: its time, and what it returned.

        What has run before and is repeated only to be timed has shown its output then.
        """
        with blocks.Quiet(self._sink) if self._planned.own or self._task else contextlib.nullcontext():
            before = blocks.compiled_frames()
            start = blocks.clock()
            value = self._call(self._sets[variant][0][1])
            self._call(blocks.synchronize)
            took = blocks.clock() - start
        return self._shown(variant, value, share, ns=took, compiled=blocks.compiled_frames() - before)

    def result(self, variant: int, share: float, *, loud: bool = False) -> Answer:
        """Call a variant, its output dropped unless `loud`: what it returned, and whether it changed its inputs."""
        made, function = self._sets[variant][0]
        before = [piece(value, share, 1 << 12) for value in made.values()]
        start = blocks.clock()
        with contextlib.nullcontext() if loud else blocks.Quiet(self._sink):
            value = self._call(function)
        took = blocks.clock() - start
        self._sizes.update(blocks.bytes_of(value))
        after = [piece(value, share, 1 << 12) for value in made.values()]
        changed = {name: made[name] for name, one, two in zip(made, before, after, strict=True) if one != two}
        if changed and took < _SHORT_NS:
            with blocks.Quiet(self._sink):
                changed = {} if only_filled(function, changed) else changed
        return self._shown(variant, value, share, changed=bool(changed))

    def wide(self, variant: int, seed: int, n: int, share: float, decoy: int | None = None) -> Answer:
        """Call a variant on inputs of the highest precision; `items` is None where it does not take them."""
        made = self._made(seed, n, decoy)
        wide, _ = widened(made)
        self._names.update(wide)
        try:
            with blocks.Quiet(self._sink):
                value = self._function(self._planned.variants[variant])()
        except Exception:  # noqa: BLE001 - it need not take what it was not written for
            return b"", {"items": None}
        finally:
            self._names.update(made)
        return self._shown(variant, value, share)

    def prepare(
        self, variant: int, seeds: list[int], n: int, *, apart: bool = False, forgotten: bool = False
    ) -> Answer:
        """Make inputs for the next block of one variant, one set a seed, with memory that held no answer before.

        `apart`: in another process, where they can be; how it went is said, and what came over, in bytes. `forgotten`:
        what the standard library remembers is, before.
        """
        self._kept.pop(variant, None)
        crosses = apart and self._may_cross(variant, len(seeds))
        if crosses:
            self._before.setdefault(variant, self._sets[variant])
        self._sets[variant] = []
        if forgotten:
            forget(self._names)
        crossed = Crossed("large" if apart else "")
        if crosses:
            crossed = made_apart(lambda seed: self._drawn(seed, n), seeds, self._sink)
        for i, seed in enumerate(seeds):
            if crossed.made:
                made = crossed.made[i]
                self._names.update(made)
            else:
                made = self._made(seed, n)
            self._sets[variant].append((made, self._function(self._planned.variants[variant])))
        self._prepared = list(self._sets[variant])
        if crossed.made:
            blocks.seed_all(seeds[-1])
        blocks.poison(tuple(self._sizes))
        self._call(blocks.synchronize)  # what a GPU still has to make belongs to no block, empty or not
        return b"", {"how": crossed.how, "arrays": crossed.arrays, "others": crossed.others}

    def _may_cross(self, variant: int, sets: int) -> bool:
        """Whether the inputs are not too much to cross: these are not made twice, nor kept beside the new ones."""
        made, _ = self._sets[variant][0]
        return sum(size for value in made.values() for _, size in blocks.bytes_of(value)) <= MOST_BYTES // sets

    def arrange(self, variant: int, turns: list[int]) -> Answer:
        """Let the next block of the variant that was prepared call it once on each of these inputs, by their places."""
        self._sets[variant] = [self._prepared[turn] for turn in turns]
        return b"", {}

    def restore(self, variant: int) -> Answer:
        """Give a variant back the inputs that it had before others were made apart."""
        self._sets[variant] = self._before.pop(variant, self._sets[variant])
        self._prepared = []
        return b"", {}

    def go(self, variant: int, calls: int) -> Answer:
        """Run one block and give its time; the last result is kept until the next block is prepared."""
        function = self._sets[variant][0][1] if self._make is None else None  # inputs made anew bring a copy with them
        held = self._moving.move(self._planned.variants[variant], function)
        with blocks.Quiet(self._sink):
            try:
                took, value = blocks.block(self._sets[variant], self._names, calls)
            except BaseException as wrong:  # noqa: BLE001 - whatever the learner's code raises is its fault
                raise _Fault(_told(wrong, self._filename)) from None
        del held
        if calls:
            self._kept[variant] = value
        return b"", {"ns": took, "compiled": blocks.compiled_frames()}

    def mark(self, variant: int, share: float) -> Answer:
        """Say, at once after a block, what its last result is: header and digests of its chunks."""
        _, said = self._shown(variant, self._kept.get(variant), share, most=_WATCHED_ELEMENTS)
        return b"", {**said, "marks": marks(self._pieces(variant, self._kept.get(variant), share, _WATCHED_ELEMENTS))}

    def reveal(self, variant: int, share: float, chunks: list[list[int]]) -> Answer:
        """Give the chunks asked for of a result as it now is."""
        found = self._pieces(variant, self._kept.get(variant), share, _WATCHED_ELEMENTS)
        return pieces_of(found, chunks), {}

    def count(self, variant: int) -> Answer:
        """Count the work of one call; nothing of it is timed."""
        inputs, function = self._sets[variant][0]
        self._names.update(inputs)
        with blocks.Quiet(self._sink):
            counted = counting.count(function, inputs)
            self._names.update(inputs)
            try:
                gpu_ns = own_ns(function, blocks.synchronize)
            except BaseException:  # noqa: BLE001 - the learner's code, called more often than it was asked to be
                gpu_ns = 0.0
        return b"", {**counted, "gpu_ns": gpu_ns}

    def look(self, *, cuda: bool) -> Answer:
        """Apply the static rules of mistakes."""
        return b"", {"found": self._inspector.look(self._planned.variants, cuda=cuda)}

    def instrument(self, n: int) -> Answer:
        """Run the passes that look for mistakes, none of which is timed for the learner."""
        blocks.hold_compiled(still=False)
        makes, own = self._make is not None, self._planned.own
        with blocks.Quiet(self._sink):
            found = self._inspector.instrument(self._called(None), n, self._called, makes=makes, own=own)
        return b"", {"found": found}

    def listen(self) -> Answer:
        """Begin to listen to torch's compiler."""
        self._ears.open()
        return b"", {}

    def insight(self, variant: int | None) -> Answer:
        """Look into one variant; without one, tell what the compiler did in the set-up."""
        if variant is None:
            return b"", told(self._ears.take())
        inputs, function = self._sets[variant][0]
        self._names.update(inputs)
        with blocks.Quiet(self._sink):
            return b"", look(self._ears, lambda: self._call(function))

    def _called(self, n: int | None) -> list[Called]:
        """Give each variant as it is called; on inputs made anew where a size is given."""
        if n is not None:
            self.fresh(n, n)
        return [(sets[0][1], sets[0][1].__globals__, sets[0][0]) for _, sets in sorted(self._sets.items())]

    def calm(self) -> Answer:
        """Collect garbage, set aside what lives, and collect no more by itself."""
        blocks.calm()
        return b"", {}

    def hold(self, *, still: bool) -> Answer:
        """Let compiled code fail rather than compile again, or let it be."""
        return b"", {"held": blocks.hold_compiled(still=still)}

    def _call_names(self) -> blocks.Inputs:
        """Give names apart from the learner's own, with `solve` as it is now."""
        solve = self._names.get("solve")
        if not callable(solve):
            raise _Fault({"name": "NameError", "last_line": "NameError: name 'solve' is not defined", "line": None,
                          "code": "no_solve"})  # fmt: skip
        return {"solve": solve, "__builtins__": __builtins__}

    def _remember_lines(self) -> None:
        lines = self._source.splitlines(keepends=True)
        linecache.cache[self._filename] = (len(self._source), None, lines, self._filename)

    @property
    def _planned(self) -> Plan:
        if self._plan is None:
            message = "nothing has been parsed"
            raise RuntimeError(message)
        return self._plan

    def _made(self, seed: int, n: int, decoy: int | None = None) -> blocks.Inputs:
        made = self._drawn(seed, n)
        if decoy is not None:
            self._drawn(decoy, n)
            blocks.seed_all(seed)
        self._names.update(made)
        return made

    def _drawn(self, seed: int, n: int) -> blocks.Inputs:
        blocks.seed_all(seed)
        made = self._call(self._make, blocks.generator(seed), n)
        if type(made) is not dict or not all(type(key) is str for key in made):
            said = {"name": "TypeError", "last_line": "TypeError: make(rng, n) must return a dict of names"}
            raise _Fault({**said, "line": self._make.__code__.co_firstlineno if self._make else None,
                          "code": "make_not_a_dict"})  # fmt: skip
        # Code that looks at the `n` of its set-up means the size that its inputs have now.
        return {"n": n, **made} if type(self._names.get("n")) is int else made

    def _take_names(self, taken: list[blocks.Inputs], places: tuple[int, ...], done: int) -> None:
        """Keep the names as they are now for the variants whose place this is, where more of the set-up follows."""
        for i, place in enumerate(places):
            if place == done:
                taken[i] = dict(self._names)

    def _function(self, variant: Variant, names: blocks.Inputs | None = None) -> blocks.Function:
        names = self._names if names is None else names
        return self._moving.function(variant, names)

    def _compiled(self, variant: Variant, names: blocks.Inputs) -> types.CodeType:
        return compiled(variant, self._filename, self._planned.flags, names)

    def _run(self, code: types.CodeType) -> None:
        self._call(exec, code, self._names)

    def _call(self, function: Any, *arguments: object) -> Any:  # noqa: ANN401 - the learner's
        try:
            return function(*arguments)
        except BaseException as wrong:  # noqa: BLE001 - whatever the learner's code raises is its fault
            raise _Fault(_told(wrong, self._filename)) from None

    def _pieces(self, variant: int, value: Any, share: float, most: int) -> list[Any]:  # noqa: ANN401
        names = result_names(self._planned.variants[variant])
        values = value if len(names) > 1 else (value,) * len(names)
        try:
            return [piece(one, share, most) for one in values]
        except BaseException as wrong:  # noqa: BLE001 - a hostile or broken value is the learner's fault
            raise _Fault(_told(wrong, self._filename)) from None

    def _shown(
        self,
        variant: int,
        value: Any,  # noqa: ANN401
        share: float,
        *,
        most: int = _SHOWN_ELEMENTS,
        **said: object,
    ) -> Answer:
        names = result_names(self._planned.variants[variant])
        found = self._pieces(variant, value, share, most)
        items = [[name, kind, list(shape), len(raw)] for name, (kind, shape, raw) in zip(names, found, strict=True)]
        return b"".join(raw for _, _, raw in found), {**said, "items": items}


def _told(wrong: BaseException, filename: str) -> dict[str, object]:
    """Tell of a fault; of an exit too, where it was asked for."""
    said = tell(wrong, filename)
    trace = wrong.__traceback__
    while trace is not None:
        if said["line"] is None and trace.tb_frame.f_code.co_filename == filename:
            return {**said, "line": trace.tb_lineno}
        trace = trace.tb_next
    return said
