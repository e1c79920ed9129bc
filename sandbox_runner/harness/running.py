"""Runs a learner's file as `__main__`, as a plain Python would, and tells the parent how it went.

Law: no line is glued in front of the learner's; a child that the learner forks never speaks to the parent; the
verdict is said before exit hooks run. What is told here is a claim about the learner's own code, nothing more.
"""

import __future__

import ast
import contextlib
import importlib
import linecache
import os
import sys
import threading
import time
import types
import warnings
from typing import Any

from .faults import Said, tell
from .pictures import save_figures
from .wire import HungUpError, Line

HEAVY = ("numpy", "torch", "matplotlib", "scipy", "pandas", "sklearn")
_COMPILING = ("torch._dynamo", "torch._inductor.compile_fx")
_FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
_LONGEST_VALUE = 4096
_SAME_PLACE = 5
_getpid, _exit, _write = os.getpid, os._exit, os.write
_clocks = {name: getattr(time, name) for name in ("time", "perf_counter", "perf_counter_ns", "monotonic", "time_ns")}
_modules = sys.modules


def serve(line: Line, source: str, filename: str) -> None:
    """Answer `import` (preload what the file imports at its top), `run`, then leave as a plain Python does."""
    script = _Script(source, filename)
    asks = {"import": script.preload, "run": script.run}
    while not script.over:
        try:
            asked = line.receive()
        except HungUpError:
            return
        said = asks[str(asked["op"])]()
        if _getpid() != script.pid:
            _leave_as_child(said)
        line.answer(asked["nonce"], b"", **said)
    if script.status:
        sys.exit(script.status)


class _Script:
    """The learner's file, compiled once."""

    def __init__(self, source: str, filename: str) -> None:
        self._source = source.removeprefix("\ufeff")
        self._filename = filename
        self._code: types.CodeType | None = None
        self._last: types.CodeType | None = None
        self._folded: dict[tuple[str, str, int], int] = {}
        self._main = types.ModuleType("__main__")
        self._main.__dict__.update(__file__=filename, __builtins__=__builtins__, __spec__=None)
        self.pid = _getpid()
        self.over = False
        self.status = 0

    def preload(self) -> Said:
        """Compile the file, and import what is heavy of its leading imports, so that this counts as no one's run."""
        try:
            tree = self._compile()
        except (SyntaxError, ValueError, MemoryError, RecursionError) as wrong:
            self.over, self.status = True, 1
            return {"fault": tell(wrong, self._filename, syntax=True)}
        if not tree.body:
            self.over = True
            return {"empty": True}
        names = _heavy_imports(tree)
        if "torch" in names and _compiles(tree):
            names += list(_COMPILING)
        for name in names:
            with contextlib.suppress(Exception):  # the learner's own import statement will say it better
                importlib.import_module(name)
        return {"imported": names}

    def run(self) -> Said:
        """Run the file; tell its fault, or the value of its last expression, and save what figures are left open."""
        self.over = True
        _modules["__main__"] = self._main
        warnings.showwarning = self._show_warning
        warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
        said: Said = {}
        try:
            if self._code is not None:
                exec(self._code, self._main.__dict__)  # noqa: S102 - this is what the sandbox is for
            if self._last is not None:
                said["value"] = _shown(eval(self._last, self._main.__dict__))  # noqa: S307 - the same
            self._join_threads()
            _await_gpu()
            said["figures"] = save_figures(os.getcwd()) if _getpid() == self.pid else 0
        except BaseException as wrong:  # noqa: BLE001 - whatever the learner's code raises is its fault
            self.status = 1
            said = {"fault": tell(wrong, self._filename)}
            self.status = int(said["fault"].get("status", 1))  # type: ignore[attr-defined]
            with contextlib.suppress(BaseException):
                said["figures"] = save_figures(os.getcwd()) if _getpid() == self.pid else 0
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(BaseException):
                stream.flush()
        patched = [name for name, clock in _clocks.items() if getattr(time, name, None) is not clock]
        return {**said, "patched": patched, "folded": sum(max(0, count) for count in self._folded.values())}

    def _compile(self) -> ast.Module:
        """Compile the body and, apart, a last expression whose value is to be shown."""
        lines = self._source.splitlines(keepends=True)
        linecache.cache[self._filename] = (len(self._source), None, lines, self._filename)
        tree = ast.parse(self._source, self._filename)
        body = ast.Module(body=list(tree.body), type_ignores=[])
        last = body.body[-1] if body.body else None
        expression = isinstance(last, ast.Expr) and not isinstance(last.value, ast.Constant)
        if expression:
            body.body.pop()
        self._code = compile(body, self._filename, "exec", dont_inherit=True)
        if isinstance(last, ast.Expr) and expression:
            flags = self._code.co_flags & _FUTURES
            self._last = compile(ast.Expression(last.value), self._filename, "eval", flags=flags, dont_inherit=True)
        return tree

    def _join_threads(self) -> None:
        """Wait for the threads that a plain Python would wait for at its end, idle pools told first to end theirs."""
        for hook in reversed(getattr(threading, "_threading_atexits", ())):  # as `threading._shutdown` does
            with contextlib.suppress(Exception):
                hook()
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()

    def _show_warning(  # noqa: PLR0913 - the library's own shape
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: Any = None,  # noqa: ANN401 - the library's own shape
        line: str | None = None,
    ) -> None:
        """Show the first few warnings of one kind and place; count the rest."""
        place = (category.__name__, filename, lineno)
        seen = self._folded.get(place, -_SAME_PLACE) + 1
        self._folded[place] = seen
        if seen <= 0 or file is not None:
            text = warnings.formatwarning(message, category, filename, lineno, line)
            (file or sys.stderr).write(text)


def _await_gpu() -> None:
    """Wait for what was started on the GPU: a fault of a kernel shows only then, and is part of the run."""
    torch = _modules.get("torch")
    if torch is None or not os.path.exists("/dev/nvidiactl"):
        return
    used = getattr(getattr(torch, "_C", None), "_cuda_hasPrimaryContext", None)
    if torch.cuda.is_initialized() or (used is not None and used(0)):  # some of torch initialises behind its own back
        torch.cuda.synchronize()


def _heavy_imports(tree: ast.Module) -> list[str]:
    """Name the heavy modules that the file's top-level statements import, in order."""
    names: dict[str, None] = {}
    for node in tree.body:
        match node:
            case ast.Import(names=aliases):
                found = [alias.name for alias in aliases]
            case ast.ImportFrom(module=str(module), level=0):
                found = [module]
            case _:
                continue
        names.update(dict.fromkeys(name for name in found if name.partition(".")[0] in HEAVY))
    return list(names)


def _compiles(tree: ast.Module) -> bool:
    """Whether something named `compile` is used: what compiles takes seconds to import, which are no one's run."""
    return any(isinstance(node, ast.Attribute) and node.attr == "compile" for node in ast.walk(tree))


def _shown(value: object) -> str:
    if value is None:
        return ""
    text = repr(value)
    if len(text) > _LONGEST_VALUE:
        half = _LONGEST_VALUE // 2
        text = f"{text[:half]} ... {text[-half:]}"
    return text.encode("utf-8", "backslashreplace").decode()


def _leave_as_child(said: Said) -> None:
    """End a process that the learner forked and that came back here: it has no say, but its own exit status."""
    fault = said.get("fault")
    status = 0 if not isinstance(fault, dict) else int(fault.get("status", 1))
    _exit(status & 0xFF)
