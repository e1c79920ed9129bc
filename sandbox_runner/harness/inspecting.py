"""Looks for mistakes of measuring in one source: before its code runs, after its set-up, and after it was timed.

Law: what is found here is a claim; the parent decides what of it is said. No pass runs while anything is timed, none
outlasts its time, and one that fails finds nothing.
"""

import os
import time
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Any

from . import magics
from .functions import Variant
from .mistakes import (
    instrument_compile,
    instrument_containers,
    instrument_gpu,
    instrument_inputs,
    instrument_kept,
    instrument_ops,
    instrument_process,
    instrument_profile,
    instrument_results,
    instrument_training,
    instrument_workers,
    static,
    watch,
)
from .mistakes.findings import Finding
from .mistakes.instrument_results import Returned
from .mistakes.subject import Subject
from .mistakes.watch_numpy import watch_numpy

_clock, _process_clock = time.perf_counter_ns, time.process_time_ns
_SPENT_NS = 8_000_000_000
_LONG_CALL_NS, _LONG_WATCHED_NS, _SHORT_WATCHED_NS = 1e9, 3e8, 1e8
_WATCHED_AGAIN = 3
_MOST = 64
_WORKERS = ("threading", "concurrent", "multiprocessing", "joblib")
"""Who imports none of these sets no workers to work."""

Called = tuple[types.FunctionType, dict[str, Any], dict[str, Any]]
"""A variant's function, its globals, and the inputs made for it."""


class Inspector:
    """One source under inspection."""

    def __init__(self, source: str, filename: str) -> None:
        self._source, self._filename = source, filename
        self._variants: tuple[Variant, ...] = ()
        self._static: list[Finding] = []
        self._before: dict[str, Any] = {}
        self._held: instrument_containers.Held = {}
        self._kept: instrument_kept.Held = {}
        self._found: list[Finding] = []
        self._deadline = 0
        self._cpu_ns = 0
        self._own: list[Finding] = []
        self._seen: dict[int, watch.Watched] = {}
        self._threads = False

    def look(self, variants: Sequence[Variant], *, cuda: bool) -> list[dict[str, object]]:
        """Apply the static rules; `variants` are as the source was taken apart."""
        self._variants = tuple(variants)
        tree = magics.take_out(self._source.removeprefix("\ufeff"), self._filename).tree
        self._threads = any(module in self._source for module in _WORKERS)
        self._static = static.look(tree, [variant.body for variant in variants], cuda=cuda)
        return told(self._static)

    def remember(self, names: dict[str, Any]) -> None:
        """Keep what the set-up left, to see later what the calls have changed of it."""
        self._before = instrument_inputs.remember(names)
        self._held = instrument_containers.remember(names)
        self._kept = instrument_kept.remember(names)

    def ran(self, *, timed: bool) -> None:
        """Note the processor's time of a part of the set-up that has just run; `timed`: the source timed it itself.

        On a busy machine a single run may stand still for long: only the processor's own time tells what it did.
        """
        before, self._cpu_ns = self._cpu_ns, _process_clock()
        if timed:
            self._own.append(Finding("own_cpu", None, {"cpu_ns": self._cpu_ns - before}, len(self._own)))

    def instrument(
        self, called: Sequence[Called], n: int, remake: Callable[[int], Sequence[Called]], *, makes: bool, own: bool
    ) -> list[dict[str, object]]:
        """Run the passes; `remake` makes the inputs anew for another size, where the set-up can (`makes`)."""
        self._deadline = _clock() + _SPENT_NS
        self._found = list(self._own)
        subjects = self._subjects(called)
        for look in (instrument_compile.breaks, instrument_compile.cudagraphs, instrument_compile.frames):
            self._try(look)
        self._try(instrument_process.threads)
        self._try(instrument_process.modes)
        spent: dict[int, float] = {}
        returned: list[Returned] = []
        for subject in subjects:
            if self._threads:
                self._try(
                    instrument_workers.crowds,
                    subject,
                    len(os.sched_getaffinity(0)),
                    waits="waits" in self._marks(subject.index),
                )
            self._try(_timed, subject, spent)
            self._watched(subject, spent.get(subject.index, 0.0), returned)
        self._try(instrument_compile.recompiles, subjects, makes=makes)
        if len(returned) == len(subjects):
            self._try(instrument_results.compared, returned)
        short = [s for s in subjects if 0 < spent.get(s.index, 0.0) < _LONG_CALL_NS]
        if len(short) == len(subjects) == len(returned):
            self._try(instrument_process.faults, returned)
        for subject in short:
            if subject.index in self._seen:  # what raised while it was watched was not seen
                self._closer(subject, spent[subject.index], own=own, makes=makes)
        if instrument_gpu.on_gpu():
            self._on_gpu(subjects, n, remake if makes else None)
        return told(self._found[:_MOST])

    def _subjects(self, called: Sequence[Called]) -> list[Subject]:
        lines = [variant.line for variant in self._variants]
        return [Subject(i, lines[i], *each) for i, each in enumerate(called)]

    def _watched(self, subject: Subject, call_ns: float, returned: list[Returned]) -> None:
        """Watch one call of a variant by its operations, and keep what it returned."""
        marks = self._marks(subject.index)
        seen = watch.Watched()
        self._try(_watch, subject, seen, call_ns)
        if not seen.done:
            return
        trains, only_views = "uses_backward" in marks, "only_views" in marks
        modes = instrument_results.modes_of(subject)
        work = instrument_ops.work_of(seen)
        one = Returned(subject, seen.value, trains, only_views, marks.get("only_views"), modes, work)
        returned.append(one)
        self._seen[subject.index] = seen
        for rule in instrument_ops.RULES:
            self._try(rule, subject, seen)
        if seen.entries:
            self._found.append(Finding("uses_autocast", None, {}, subject.index))
        self._try(instrument_ops.graphs, subject, seen, trains=trains)
        if "uses_scaler" in marks:
            self._try(instrument_ops.scaled_bfloat16, subject, seen, marks["uses_scaler"])
        self._try(instrument_results.views, one)
        self._try(instrument_inputs.denormals, subject, one.value, call_ns)

    def _closer(self, subject: Subject, call_ns: float, *, own: bool, makes: bool) -> None:
        """Call a variant some more times, on values and in ways of its own."""
        marks = self._marks(subject.index)
        if not makes:
            self._try(instrument_inputs.changes, subject, self._before)
            self._try(instrument_containers.changes, subject, self._held, call_ns)
            self._try(instrument_containers.remembers, subject, call_ns)
            self._try(instrument_kept.remembers, subject, self._kept, call_ns)
            self._try(instrument_kept.runs_dry, subject, self._kept)
        self._try(instrument_profile.profile, subject, marks.get("may_print"))
        self._try(instrument_profile.draws, subject)
        for find, names in instrument_profile.NAMED.items():
            if "works" in marks and any(name in self._source for name in names):
                self._try(find, subject)
        loops = [each for each in self._static if each.code == "loops_over" and each.variant == subject.index]
        lines = {str(each.values["what"]): each.line for each in reversed(loops)}
        taken = self._seen[subject.index].taken
        self._try(instrument_results.loops, subject, taken, lines, call_ns)
        if "never_empties" in marks:
            self._try(instrument_training.gradients, subject, self._seen[subject.index], marks["never_empties"])
        if "uses_backward" in marks:
            self._try(instrument_training.scalers, subject, own=own)
        self._try(instrument_inputs.constants, subject, call_ns)
        self._try(instrument_inputs.cached, subject, call_ns)

    def _on_gpu(self, subjects: list[Subject], n: int, remake: Callable[[int], Sequence[Called]] | None) -> None:
        for subject in subjects:
            if (seen := self._seen.get(subject.index)) is not None:
                self._try(instrument_gpu.busy, subject, seen, loads="uses_loader" in self._marks(subject.index))
            self._try(instrument_gpu.streams, subject)
            self._try(instrument_gpu.allocates, subject)
        if remake is not None and len(subjects) > 1:
            self._try(instrument_gpu.crossover, subjects, n, lambda size: self._subjects(remake(size)))

    def _marks(self, variant: int) -> dict[str, int | None]:
        return {each.code: each.line for each in self._static if each.variant == variant}

    def _try(self, find: Callable[..., Iterable[Finding]], *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Let one pass look, if there is time left; whatever it raises, it found nothing."""
        if _clock() > self._deadline:
            return
        try:
            self._found += find(*args, **kwargs)
        except BaseException:  # noqa: BLE001 - it is the learner's code that runs, once more than it was asked to
            return


def _timed(subject: Subject, spent: dict[int, float]) -> tuple[Finding, ...]:
    subject.call()
    spent[subject.index] = subject.time()
    return ()


def _watch(subject: Subject, seen: watch.Watched, call_ns: float) -> tuple[Finding, ...]:
    watch.watch(subject.call, seen)
    seen.done = True
    for _ in range(_WATCHED_AGAIN if seen.ops and call_ns < _SHORT_WATCHED_NS else 0):
        again = watch.Watched()
        watch.watch(subject.call, again)
        seen.steady(again)
    seen.taken = instrument_ops.takes_elements(subject, seen)
    if call_ns < _LONG_WATCHED_NS:  # an element taken costs some twenty times as much while it is watched
        seen.promoted, taken, seen.extent = watch_numpy(subject)
        seen.taken |= taken
    return ()


def told(found: list[Finding]) -> list[dict[str, object]]:
    """Give findings as they cross."""
    return [asdict(each) for each in found]
