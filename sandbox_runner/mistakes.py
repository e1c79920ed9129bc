"""Decides which mistakes of measuring are told of: what the harness found, and what the figures themselves show.

Law: a finding is a claim from inside, so it is told of only if it is one of a closed list, about a variant and a line
that exist, with figures that can be; it never changes a figure or an ending. The one that changes the number most comes
first: by its measured share of the time, else by how grave it usually is.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from sandbox_runner.asking import Harness, Named, Stopped
from sandbox_runner.protocol import Claim, Flag, Phase, Ratio, Variant

Values = dict[str, str | int | float]


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake by its number in the list of 47, and the part of the time that it usually costs, 0 to 1."""

    number: int
    weight: float


MISTAKES = {
    "no_sync": Mistake(1, 0.97),
    "other_stream": Mistake(1, 0.5),
    "compile_timed": Mistake(2, 0.95),
    "constant_inputs": Mistake(3, 0.12),
    "in_cache": Mistake(4, 0.3),
    "dead_code": Mistake(5, 0.9),
    "h2d_copy": Mistake(6, 0.5),
    "promoted": Mistake(7, 0.6),
    "numpy64_torch32": Mistake(8, 0.6),
    "item_sync": Mistake(9, 0.5),
    "not_autocast": Mistake(10, 0.6),
    "casts_cost": Mistake(11, 0.3),
    "autocast_reentered": Mistake(12, 0.25),
    "cpu_autocast": Mistake(13, 0.4),
    "tf32_off": Mistake(14, 0.7),
    "tf32_on": Mistake(14, 0.5),
    "scaler_skipped": Mistake(15, 0.3),
    "scaler_bf16": Mistake(16, 0.1),
    "clip_scaled": Mistake(16, 0.2),
    "grads_grow": Mistake(17, 0.15),
    "denormals": Mistake(18, 0.4),
    "oversubscribed": Mistake(19, 0.3),
    "timer_threads": Mistake(20, 0.5),
    "first_call_timed": Mistake(21, 0.9),
    "cudnn_tunes": Mistake(22, 0.4),
    "empty_cache": Mistake(23, 0.6),
    "page_faults": Mistake(24, 0.35),
    "recompiled": Mistake(25, 0.6),
    "recompiles": Mistake(25, 0.6),
    "graph_breaks": Mistake(26, 0.3),
    "compile_inside": Mistake(27, 0.95),
    "cudagraph_skipped": Mistake(28, 0.3),
    "cudagraph_overwritten": Mistake(28, 0.98),
    "autotune_long": Mistake(29, 0.2),
    "generator": Mistake(30, 0.99),
    "results_lazy": Mistake(30, 0.99),
    "view_only": Mistake(31, 0.96),
    "np_vectorize": Mistake(32, 0.9),
    "loop_over_array": Mistake(33, 0.7),
    "input_changed": Mistake(34, 0.8),
    "remembers": Mistake(34, 0.9),
    "creation_timed": Mistake(35, 0.4),
    "print_timed": Mistake(36, 0.2),
    "own_wall_clock": Mistake(37, 0.2),
    "own_summary": Mistake(38, 0.2),
    "debug_mode": Mistake(39, 0.5),
    "grad_differs": Mistake(40, 0.3),
    "train_mode_differs": Mistake(40, 0.3),
    "work_differs": Mistake(41, 0.85),
    "layout_copy": Mistake(42, 0.3),
    "results_differ": Mistake(43, 1.0),
    "gpu_idle": Mistake(44, 0.6),
    "launch_bound": Mistake(45, 0.6),
    "grad_kept": Mistake(46, 0.2),
    "crossover": Mistake(47, 0.7),
}
"""By the flag's code. Some are found by the harness, some here, some where results are compared."""

_FIRST_TIMES, _LEAST_LONGER_NS = 5.0, 25e6
_LOST_SYNC = 0.5
_LONG_CALL_NS = 1.5e9
_LONG_CALLS = 1000.0
_LAUNCH_TIMES, _LEAST_LAUNCH_NS = 1.3, 15_000.0
_MOST_FOUND, _MOST_TEXT, _MOST_COUNT = 64, 80, 1 << 50
_FIGURES = {"cpu_ns", "share", "times", "part", "count", "bytes", "threads", "cores", "size", "from_size"}
_TEXTS = {"what", "how", "kind"}


@dataclass(frozen=True, slots=True)
class Found:
    """A finding as the harness tells it; `variant` is -1 where it is of the whole source."""

    code: str
    line: int | None = None
    values: Values = field(default_factory=dict)
    variant: int = -1


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found."""

    found: tuple[Found, ...]


@dataclass(slots=True)
class Mistakes:
    """The search for mistakes in one source of some variants and lines."""

    harness: Harness
    named: tuple[Named, ...]
    lines: int
    cuda: bool = False
    found: list[Found] = field(default_factory=list)

    async def look(self) -> None:
        """Have the static rules applied, before any of the learner's code runs.

        Raises:
            Stopped, Tampered, HungUp: as `Harness.ask`.
        """
        looked, _, _ = await self.harness.ask(Looked, "look", cuda=self.cuda)
        self._take(looked)

    async def instrument(self, n: int, call_ns: float = 0.0) -> None:
        """Have the passes run, after everything was timed; what they cannot find in time is not found.

        `call_ns` is the longest call's time: a variant that takes long is not called again for this.

        Raises:
            Tampered, HungUp: as `Harness.ask`.
        """
        if call_ns > _LONG_CALL_NS:
            return
        with self.harness.phase(Phase.MEASURE):
            try:
                looked, _, _ = await self.harness.ask(Looked, "instrument", n=n)
            except Stopped:
                return
        self._take(looked)

    def _take(self, looked: Looked) -> None:
        self.found += [found for found in looked.found[:_MOST_FOUND] if self._believable(found)]

    def _believable(self, found: Found) -> bool:
        line = found.line is None or 1 <= found.line <= self.lines
        place = -1 <= found.variant < len(self.named)
        return line and place and all(_can_be(name, value) for name, value in found.values.items())

    def flags(
        self,
        variants: Iterable[Variant] = (),
        ratios: Iterable[Ratio] = (),
        own_ns: tuple[int, ...] = (),
        fault: str = "",
    ) -> list[Flag]:
        """Give the mistakes as flags, also those that figures show: a source's own times, and a fault's last line."""
        times = {variant.name: variant for variant in variants}
        told = [*self._of_figures(times, list(ratios)), *self._of_own(times, own_ns)]
        if "overwritten by a subsequent" in fault or "cudagraph_mark_step_begin" in fault:
            told.append(Found("cudagraph_overwritten"))
        return [self._flag(found) for found in (*self.found, *told) if found.code in MISTAKES]

    def _flag(self, found: Found) -> Flag:
        name: Values = {"name": self.named[found.variant].name} if found.variant >= 0 else {}
        return Flag(found.code, name | found.values, found.line)

    def _has(self, code: str) -> set[int]:
        return {found.variant for found in self.found if found.code == code}

    def _of_own(self, times: dict[str, Variant], own_ns: tuple[int, ...]) -> list[Found]:
        """Mistakes 1, 2 and 21, where the source's own number is held against ours."""
        told = []
        compiles = bool(self._has("compiled_frames"))
        for i, (named, own) in enumerate(zip(self.named, own_ns, strict=False)):
            if named.name not in times:
                continue
            share = own / times[named.name].median_ns
            values: Values = {"own_ns": own, "median_ns": times[named.name].median_ns, "times": share}
            # A busy machine makes one run long: it was long by itself only if the processor worked all the while.
            worked = min((min(float(found.values.get("cpu_ns", own)), own) for found in self.found
                          if (found.code, found.variant) == ("own_cpu", i)), default=own)  # fmt: skip
            longer = own - times[named.name].median_ns >= _LEAST_LONGER_NS
            if longer and worked / times[named.name].median_ns > _FIRST_TIMES:
                told.append(Found("compile_timed" if compiles else "first_call_timed", named.line, values, i))
            elif self.cuda and share < _LOST_SYNC and not self._has("no_sync"):
                told.append(Found("no_sync", named.line, {}, i))
        return told

    def _of_figures(self, times: dict[str, Variant], ratios: list[Ratio]) -> list[Found]:
        """Mistakes 13, 14, 29 and 45, where a fact about a variant and its figures make one together."""
        told = self._launch_bound(times)
        casts, names = self._has("uses_autocast"), [named.name for named in self.named]
        for ratio in ratios:
            one, two = names.index(ratio.name), names.index(ratio.against)
            slower, faster = (one, two) if ratio.claim is Claim.SLOWER else (two, one)
            apart = ratio.claim in {Claim.SLOWER, Claim.FASTER}
            if apart and not self.cuda and slower in casts and faster not in casts:
                by = max(ratio.point, 1 / ratio.point)
                told.append(Found("cpu_autocast", self.named[slower].line, {"times": by}, slower))
            pays = ratio.claim is Claim.FASTER and ratio.break_even <= _LONG_CALLS
            if self._has("uses_autotune") and times[ratio.name].compile_ns > 0 and not pays:
                values: Values = {"compile_ns": times[ratio.name].compile_ns, "count": round(ratio.break_even)}
                told.append(Found("autotune_long", self.named[one].line, values, one))
        full, convolved, half = (self._has(f"uses_{each}") for each in ("full_fp32", "tf32_conv", "half"))
        for code, found in (("tf32_off", full), ("tf32_on", convolved)):
            if found and half - found:
                told.append(Found(code, self.named[min(found)].line, {}, min(found)))
        return told

    def _launch_bound(self, times: dict[str, Variant]) -> list[Found]:
        """Mistake 45: the host takes much longer than the GPU works, by the GPU's own events."""
        told, idle = [], self._has("gpu_idle")
        for i, named in enumerate(self.named):
            if (variant := times.get(named.name)) is None or i in idle or variant.gpu_ns <= 0:
                continue
            if variant.median_ns > max(_LAUNCH_TIMES * variant.gpu_ns, _LEAST_LAUNCH_NS):
                share = 1 - variant.gpu_ns / variant.median_ns
                told.append(Found("launch_bound", named.line, {"share": share}, i))
        return told


def _can_be(name: str, value: str | float) -> bool:
    """Whether a figure from inside is one that a finding can have."""
    if isinstance(value, str):
        return name in _TEXTS and len(value) <= _MOST_TEXT and value.isprintable()
    if name not in _FIGURES or not math.isfinite(value):
        return False
    return 0 <= value <= (1 if name in {"share", "part"} else _MOST_COUNT)


def arranged(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """Put mistakes before other remarks, the one that changes the number most first, each told of once.

    A mistake's flag bears the number of the mistake in its values.
    """
    mistakes: dict[tuple[str, str | int | float], Flag] = {}
    rest = []
    given = list(flags)
    lazy = {flag.values.get("name") for flag in given if flag.code == "results_lazy"}
    for flag in given:
        if flag.code not in MISTAKES:
            rest.append(flag)
            continue
        if flag.code == "generator" and flag.values.get("name") in lazy:
            continue
        known = mistakes.get(key := _key(flag))
        if known is None or (_sized(flag), len(flag.values)) > (_sized(known), len(known.values)):
            mistakes[key] = flag
    ranked = sorted(mistakes.values(), key=_weight, reverse=True)
    numbered = [replace(f, values=f.values | {"mistake": MISTAKES[f.code].number}) for f in ranked]
    return (*numbered, *rest)


def _key(flag: Flag) -> tuple[str, str | int | float]:
    if flag.code == "print_timed":
        return flag.code, flag.line or 0
    return flag.code, flag.values.get("name", "")


def _sized(flag: Flag) -> bool:
    return bool({"share", "times"} & set(flag.values))


def _weight(flag: Flag) -> float:
    share, times = flag.values.get("share"), flag.values.get("times")
    if isinstance(share, int | float):
        return float(share)
    if isinstance(times, int | float) and times > 1:
        return 1 - 1 / times
    return MISTAKES[flag.code].weight
