"""Listens to torch's compiler: where it split a function, why it compiled again, and the code that it wrote.

Law: reads the compiler's own log records, and changes nothing of what it does but that it writes them. The wording of
those records is torch's and changes with its versions: what is not understood is left out, never guessed at.
"""

import contextlib
import logging
import re
import sys
from dataclasses import dataclass, field
from typing import Any

_BREAKS, _RECOMPILES = "torch._dynamo.symbolic_convert.__graph_breaks", "torch._dynamo.guards.__recompiles"
_GUARDS = "torch._dynamo.guards.__guards"
_OUTPUTS = (
    "torch._inductor.codecache.__output_code",
    "torch._inductor.graph.__output_code",
    "torch._inductor.compile_fx.__output_code",
)
_MOST = 64
_LONGEST_REASON, _LONGEST_KERNEL = 160, 6000
_modules = sys.modules

_PLACE = re.compile(r'(?:in user code at |File ")([^\n":]+)"?(?::|, line )(\d+)')
_REASON = re.compile(r"Graph Break Reason:\s*(.*?)(?:\n\s*Hint:|\n\s*Developer debug|\Z)", re.DOTALL)
_AGAIN = re.compile(r"Recompiling function ([^\s]+) in ([^\n]+):(\d+)")
_GUARD_FAILED = re.compile(r"^\s*- \d+/\d+(?:_\d+)?: (.+)$", re.MULTILINE)
_CHECKED_TENSOR = re.compile(
    r"check_tensor\((.{1,80}?), .{0,200}?torch\.(\w+), device=.{0,12}?, requires_grad=\w+, size=(\[[^\]]{0,80}\])"
)
_KERNEL = re.compile(
    r"^(\w+) = async_compile\.(\w+)\((?:'[^'\n]*', |\[[^\]\n]*\], )?r?'''\n(.*?)'''", re.MULTILINE | re.DOTALL
)
_STARTS = {"triton": "@triton.jit", "cpp_pybinding": 'extern "C"', "cpp": 'extern "C"'}
_CALL = re.compile(r"^\s+def call\(.*", re.MULTILINE | re.DOTALL)
_LIBRARY = re.compile(r"\b(extern_kernels\.\w+|torch\.ops\.\w+\.\w+(?:\.\w+)?)\(")


@dataclass
class Heard:
    """What the compiler said while it was listened to."""

    breaks: list[dict[str, object]] = field(default_factory=list)
    recompiles: list[dict[str, object]] = field(default_factory=list)
    guards: list[str] = field(default_factory=list)
    kernels: list[dict[str, object]] = field(default_factory=list)
    libraries: list[str] = field(default_factory=list)
    graphs: int = 0
    nodes: int = 0

    def add(self, name: str, text: str, filename: str) -> None:
        """Take one record."""
        if name == _BREAKS and len(self.breaks) < _MOST:
            self.breaks.append(_break(text, filename))
        elif name == _RECOMPILES and len(self.recompiles) < _MOST:
            self.recompiles += _recompile(text, filename)
        elif name == _GUARDS:
            found = [f"{what}: {dtype} {size}" for what, dtype, size in _CHECKED_TENSOR.findall(text)]
            self.guards += [guard for guard in found if guard not in self.guards][: _MOST - len(self.guards)]
        elif name in _OUTPUTS and text.startswith("Output code: "):
            self._output(text)

    def _output(self, text: str) -> None:
        self.graphs += 1
        for kernel, how, source in _KERNEL.findall(text):
            if len(self.kernels) < _MOST:
                start = max(source.find(_STARTS.get(how, "")), 0)
                language = "triton" if how == "triton" else "cpp"
                shown = source[start : start + _LONGEST_KERNEL].rstrip()
                self.kernels.append({"name": kernel[:80], "language": language, "source": shown})
        called = _CALL.search(text)
        names = _LIBRARY.findall(called.group(0)) if called else []
        self.libraries += [name.removeprefix("extern_kernels.")[:80] for name in names][: _MOST - len(self.libraries)]


def _break(text: str, filename: str) -> dict[str, object]:
    found = _REASON.search(text)
    paragraphs = [part.strip() for part in found.group(1).split("\n\n")] if found else []
    told = next((part for part in reversed(paragraphs) if part and "Encountered graph break" not in part), "")
    headline, _, explained = (told or text.strip()).partition("\n")
    explanation = explained.strip().removeprefix("Explanation:").strip().partition("\n")[0]
    reason = f"{headline}: {explanation}" if explanation else headline
    return {"reason": reason[:_LONGEST_REASON], "line": _line(text, filename)}


def _line(text: str, filename: str) -> int | None:
    lines = [int(number) for name, number in _PLACE.findall(text) if name == filename]
    return lines[-1] if lines else None


def _recompile(text: str, filename: str) -> list[dict[str, object]]:
    found = _AGAIN.search(text)
    if found is None:
        return []
    why = _GUARD_FAILED.findall(text)
    line = int(found.group(3)) if found.group(2) == filename else None
    return [{"function": found.group(1)[:80], "why": (why[0] if why else "")[:_LONGEST_REASON], "line": line}]


class Ears(logging.Handler):
    """Listens from `open` on; `take` gives what was heard since the last time."""

    def __init__(self, filename: str) -> None:
        super().__init__(logging.DEBUG)
        self._filename = filename
        self._heard = Heard()
        self._nodes = 0

    def open(self) -> None:
        """Begin to listen, where torch is there. What is compiled is written anew, not taken from a cache."""
        if "torch" not in _modules:
            return
        for name in (_BREAKS, _RECOMPILES, _GUARDS, *_OUTPUTS):
            logger = logging.getLogger(name)
            logger.setLevel(logging.DEBUG)
            logger.propagate = False
            logger.handlers = [self]
        with contextlib.suppress(Exception):  # an older or newer torch may keep these elsewhere, and tells less then
            from torch._functorch import config as functorch  # noqa: PLC0415 - torch is there only now
            from torch._inductor import config as inductor  # noqa: PLC0415
            from torch._logging import _internal  # noqa: PLC0415

            inductor.fx_graph_cache = functorch.enable_autograd_cache = False
            for artifact in ("graph_breaks", "recompiles", "guards", "output_code"):
                _internal.log_state.enable_artifact(artifact)

    def emit(self, record: logging.LogRecord) -> None:
        """Take one record of the compiler's."""
        with contextlib.suppress(Exception):  # a record of another shape tells nothing
            self._heard.add(record.name, record.getMessage(), self._filename)

    def take(self) -> Heard:
        """Give what was heard since the last time, with the nodes that there were before they were fused."""
        heard, self._heard = self._heard, Heard()
        metrics: Any = _modules.get("torch._inductor.metrics")
        nodes = int(metrics.ir_nodes_pre_fusion) if metrics is not None else 0
        heard.nodes, self._nodes = max(0, nodes - self._nodes), nodes
        return heard
