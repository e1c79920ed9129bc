"""Obeys the parent that times a learner's variants: sets up, warms, runs blocks, shows results, reports faults.

Law: nothing is decided here. What runs, how often and in which order is asked from outside, and every figure said
here is a claim that the parent's own clock checks. Private references to clocks are taken at import, before any of
the learner's code has run.
"""

import contextlib
import gc
import linecache
import os
import random
import sys
import time
import traceback
import types
from itertools import repeat
from typing import Any

from .cells import Plan, plan
from .functions import CellError, Variant, compiled, result_names
from .outputs import piece
from .wire import HungUpError, Line

DEFAULT_SIZE = 1000
_clock = time.perf_counter_ns
_collect, _freeze, _disable = gc.collect, gc.freeze, gc.disable
_modules = sys.modules
_open, _dup, _dup2, _close = os.open, os.dup, os.dup2, os.close
_LONGEST_LINE = 500

Function = types.FunctionType


class _Fault(Exception):  # noqa: N818 - carries the learner's error to the line
    """The learner's code failed; `said` is what is told of it."""

    def __init__(self, said: dict[str, object]) -> None:
        super().__init__()
        self.said = said


def serve(line: Line, source: str, filename: str) -> None:
    """Answer what is asked on `line` about `source` until the parent hangs up."""
    bench = _Bench(source, filename)
    asks: dict[str, Any] = {
        "parse": bench.parse,
        "imports": bench.imports,
        "setup": bench.setup,
        "fresh": bench.fresh,
        "first": bench.first,
        "result": bench.result,
        "warm": bench.warm,
        "calm": bench.calm,
        "round": bench.round,
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


Answer = tuple[bytes, dict[str, object]]


class _Bench:
    """One source, taken apart and set up in a `__main__` of its own."""

    def __init__(self, source: str, filename: str) -> None:
        self._source, self._filename = source, filename
        self._plan: Plan | None = None
        self._functions: list[Function] = []
        self._make: Function | None = None
        self._main = types.ModuleType("__main__")
        self._names = self._main.__dict__
        self._names.update(__file__=filename, __builtins__=__builtins__)
        self._sink = _open(os.devnull, os.O_WRONLY)

    def parse(self) -> Answer:
        """Take the source apart: the variants' names, lines and the names of what they return, and remarks."""
        lines = self._source.splitlines(keepends=True)
        linecache.cache[self._filename] = (len(self._source), None, lines, self._filename)
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
        return b"", {"variants": variants, "remarks": [list(remark) for remark in self._plan.remarks]}

    def imports(self) -> Answer:
        """Run the imports that lead the set-up."""
        sys.modules["__main__"] = self._main
        self._run(self._planned.imports)
        return b"", {}

    def setup(self) -> Answer:
        """Run the rest of the set-up and make the variants; say whether it defines `make`, and its `n`."""
        self._run(self._planned.setup)
        make = self._names.get("make")
        self._make = make if isinstance(make, Function) else None
        size = self._names.get("n", DEFAULT_SIZE)
        size = size if type(size) is int and 0 < size < 1 << 40 else DEFAULT_SIZE
        if self._make is None:
            self._build()
        return b"", {"makes": self._make is not None, "n": size}

    def fresh(self, seed: int, n: int) -> Answer:
        """Let the set-up's `make(rng, n)` make the inputs anew: the globals that it names."""
        self._seed(seed)
        numpy = _modules.get("numpy")
        rng = numpy.random.default_rng(seed) if numpy is not None else random.Random(seed)  # noqa: S311 - inputs
        made = self._call(self._make, rng, n)
        if type(made) is not dict or not all(type(key) is str for key in made):
            said = {"name": "TypeError", "last_line": "TypeError: make(rng, n) must return a dict of names"}
            raise _Fault({**said, "line": self._make.__code__.co_firstlineno if self._make else None,
                          "code": "make_not_a_dict"})  # fmt: skip
        self._names.update(made)
        self._build()
        return b"", {}

    def first(self, variant: int, share: float) -> Answer:
        """Call a variant for the first time, with its output shown: its time, and what it returned."""
        function = self._functions[variant]
        start = _clock()
        value = self._call(function)
        self._call(_synchronize)
        took = _clock() - start
        return self._shown(variant, value, share, ns=took)

    def result(self, variant: int, share: float) -> Answer:
        """Call a variant with its output dropped, and show what it returned."""
        with _Quiet(self._sink):
            value = self._call(self._functions[variant])
        return self._shown(variant, value, share)

    def warm(self, variant: int, calls: int) -> Answer:
        """Call a variant `calls` times, its output dropped; say how long that took, and what was compiled so far."""
        with _Quiet(self._sink):
            start = _clock()
            for _ in repeat(None, calls):
                self._call(self._functions[variant])
            self._call(_synchronize)
            took = _clock() - start
        return b"", {"ns": took, "compiled": _compiled()}

    def calm(self) -> Answer:
        """Collect garbage, set aside what lives, and collect no more by itself."""
        _collect()
        _freeze()
        _disable()
        return b"", {}

    def round(self, blocks: list[list[int]]) -> Answer:
        """Run blocks (variant, calls) in the order given: the time of each, in ns. Output is dropped."""
        times = []
        with _Quiet(self._sink):
            for variant, calls in blocks:
                try:
                    times.append(_block(self._functions[variant], calls))
                except BaseException as wrong:  # noqa: BLE001 - whatever the learner's code raises is its fault
                    raise _Fault(_told(wrong, self._filename)) from None
        return b"", {"ns": times}

    @property
    def _planned(self) -> Plan:
        if self._plan is None:
            message = "nothing has been parsed"
            raise RuntimeError(message)
        return self._plan

    def _build(self) -> None:
        self._functions = [self._function(variant) for variant in self._planned.variants]

    def _function(self, variant: Variant) -> Function:
        code = compiled(variant, self._filename, self._planned.flags, self._names)
        parameters = code.co_varnames[: code.co_argcount]
        return Function(code, self._names, variant.name, tuple(self._names[name] for name in parameters))

    def _run(self, code: types.CodeType) -> None:
        self._call(exec, code, self._names)

    def _call(self, function: Any, *arguments: object) -> Any:  # noqa: ANN401 - the learner's
        try:
            return function(*arguments)
        except BaseException as wrong:  # noqa: BLE001 - whatever the learner's code raises is its fault
            raise _Fault(_told(wrong, self._filename)) from None

    def _shown(self, variant: int, value: Any, share: float, **said: object) -> Answer:  # noqa: ANN401
        names = result_names(self._planned.variants[variant])
        values = value if len(names) > 1 else (value,) * len(names)
        try:
            pieces = [piece(one, share) for one in values]
        except BaseException as wrong:  # noqa: BLE001 - a hostile or broken value is the learner's fault
            raise _Fault(_told(wrong, self._filename)) from None
        items = [[name, kind, list(shape), len(raw)] for name, (kind, shape, raw) in zip(names, pieces, strict=True)]
        return b"".join(raw for _, _, raw in pieces), {**said, "items": items}

    @staticmethod
    def _seed(seed: int) -> None:
        random.seed(seed)
        if (torch := _modules.get("torch")) is not None:
            torch.manual_seed(seed)


def _block(function: Function, calls: int) -> int:
    _synchronize()
    start = _clock()
    for _ in repeat(None, calls):
        function()
    _synchronize()
    return _clock() - start


def _synchronize() -> None:
    """Wait for every CUDA device that was touched; nothing where none was."""
    torch = _modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return
    for device in range(torch.cuda.device_count()):
        torch.cuda.synchronize(device)


def _compiled() -> int:
    """Count the frames that torch.compile has compiled so far."""
    dynamo = _modules.get("torch._dynamo.utils")
    return int(dynamo.counters["frames"]["ok"]) if dynamo is not None else 0


class _Quiet:
    """While it lasts, descriptors 1 and 2 lead nowhere, for Python, C and child processes alike."""

    def __init__(self, sink: int) -> None:
        self._sink = sink
        self._kept: list[int] = []

    def __enter__(self) -> None:
        _flush()
        self._kept = [_dup(1), _dup(2)]
        _dup2(self._sink, 1)
        _dup2(self._sink, 2)

    def __exit__(self, *_: object) -> None:
        _flush()
        for target, kept in zip((1, 2), self._kept, strict=True):
            _dup2(kept, target)
            _close(kept)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # the learner may have put anything there
            stream.flush()


def _told(wrong: BaseException, filename: str) -> dict[str, object]:
    """Tell of an exception: its name, last line and the learner's line; its traceback goes to standard error."""
    line = None
    trace = wrong.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != filename:
        trace = trace.tb_next
    step = trace
    while step is not None:
        line = step.tb_lineno if step.tb_frame.f_code.co_filename == filename else line
        step = step.tb_next
    if isinstance(wrong, SyntaxError) and wrong.filename == filename:
        line = wrong.lineno
    name = type(wrong).__name__
    try:
        last = "".join(traceback.format_exception_only(type(wrong), wrong)).strip().splitlines()[-1]
        if not isinstance(wrong, SystemExit):
            sys.stderr.write("".join(traceback.format_exception(type(wrong), wrong, trace)))
            sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - the exception's own text may be hostile
        last = name
    code = wrong.code if isinstance(wrong, SystemExit) else None
    status = 0 if code is None else code if type(code) is int else 1
    last = last[:_LONGEST_LINE].encode("utf-8", "replace").decode()
    said: dict[str, object] = {"name": name[:80], "last_line": last, "line": line}
    return {**said, "status": status} if isinstance(wrong, SystemExit) else said
