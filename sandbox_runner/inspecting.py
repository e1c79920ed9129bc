"""Inspects one source on a harness: what the compiler did with each variant, and what each call is made of.

Law: nothing here is measured to be compared; what the harness tells is bounded in size and number before it goes on.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from sandbox_runner.asking import Done, Harness, Made, Named, Parsed, Pinned, SetUp, Stopped, believable
from sandbox_runner.channel import Channel, HungUp, Tampered
from sandbox_runner.measuring import Measured
from sandbox_runner.output import plain
from sandbox_runner.pinning import place_on
from sandbox_runner.protocol import (
    Break,
    Device,
    Ending,
    Flag,
    Insight,
    Job,
    Kernel,
    Operation,
    Phase,
    Product,
    Progress,
    Recompile,
)

_MOST, _MOST_COUNT, _MOST_BYTES = 64, 10_000_000, 1 << 44
_LONG, _LONGEST_KERNEL = 200, 6000
_LANGUAGES = {"cpp", "triton"}


async def inspect(
    channel: Channel,
    job: Job,
    progress: Callable[[Progress], None],
    *,
    clock: Callable[[], int] = time.perf_counter_ns,
) -> Measured:
    """Inspect the source that the harness behind `channel` serves; it must be `job`'s.

    The learner's faults, limits reached and tampering are endings in what is returned, never exceptions; what was
    seen before one of them is returned with it.
    """
    looking = _Looking(Harness(channel, job.limits, progress, clock), job)
    try:
        await looking.run()
    except Stopped as stopped:
        return looking.told(stopped.ending, stopped)
    except Tampered:
        return Measured(Ending.TAMPERED, phases_ms=looking.harness.phases_ms)
    except HungUp:
        return looking.told(None)
    return looking.told(Ending.OK)


@dataclass(slots=True)
class _Looking:
    harness: Harness
    job: Job
    named: tuple[Named, ...] = ()
    insights: tuple[Insight, ...] = ()
    flags: tuple[Flag, ...] = ()

    async def run(self) -> None:
        place = place_on(os.sched_getaffinity(0))
        with self.harness.phase(Phase.IMPORT):
            cuda, cores = self.job.device is not Device.CPU, list(place.inner)
            await self.harness.ask(Pinned, "pin", threads=place.threads, cores=cores, cuda=cuda)
            parsed, _, _ = await self.harness.ask(Parsed, "parse")
            believable(parsed)
            self.named = parsed.variants
            self.flags = tuple(Flag(code[:80], {}, line) for code, line in parsed.remarks)
            await self.harness.ask(Done, "imports")
            await self.harness.ask(Done, "listen")
        # What is compiled may be called in the set-up already.
        with self.harness.phase(Phase.COMPILE if "compile" in self.job.source else Phase.RUN):
            setup, _, _ = await self.harness.ask(SetUp, "setup")
        made, _, _ = await self.harness.ask(Insight, "insight", variant=None)
        if made.graphs or made.breaks or made.recompiles:
            self.insights = (self._bounded(made, "", 0.0),)
        for number, variant in enumerate(self.named):
            with self.harness.phase(Phase.COMPILE):
                if setup.makes:
                    await self.harness.ask(Made, "fresh", seed=number, n=max(setup.n, 1))
                found, _, wall_ns = await self.harness.ask(Insight, "insight", variant=number)
            self.insights += (self._bounded(found, variant.name, float(wall_ns)),)

    def told(self, ending: Ending | None, stopped: Stopped | None = None) -> Measured:
        """Sum up."""
        fault, reached = (stopped.fault, stopped.reached) if stopped else (None, None)
        flags = (*self.flags, *(stopped.flags if stopped else ()))
        phases = self.harness.phases_ms
        return Measured(ending, flags=flags, phases_ms=phases, fault=fault, reached=reached, insights=self.insights)

    def _bounded(self, found: Insight, name: str, wall_ns: float) -> Insight:
        """Cut what is too long or too many, and times that are longer than the parent waited."""
        lines = self.job.source.count("\n") + 1
        return replace(
            found,
            name=name,
            first_ns=min(max(found.first_ns, 0.0), wall_ns),
            again_ns=min(max(found.again_ns, 0.0), wall_ns),
            breaks=tuple(Break(_short(one.reason), _line(one.line, lines)) for one in found.breaks[:_MOST]),
            recompiles=tuple(
                Recompile(_short(one.function), _short(one.why), _line(one.line, lines))
                for one in found.recompiles[:_MOST]
            ),
            guards=tuple(_short(guard) for guard in found.guards[:_MOST]),
            kernels=tuple(
                Kernel(_short(one.name), one.language, plain(one.source[:_LONGEST_KERNEL]))
                for one in found.kernels[:_MOST]
                if one.language in _LANGUAGES
            ),
            libraries=tuple(_short(name) for name in found.libraries[:_MOST]),
            operations=tuple(
                Operation(_short(one.name), _count(one.calls), min(max(one.share, 0.0), 1.0))
                for one in found.operations[:_MOST]
            ),
            products=tuple(
                Product(_short(one.op), _short(one.precision), _short(one.shape), _count(one.count))
                for one in found.products[:_MOST]
            ),
            graphs=_count(found.graphs),
            nodes=_count(found.nodes),
            eager_kernels=_count(found.eager_kernels),
            launches=_count(found.launches),
            peak_bytes=min(max(found.peak_bytes, 0), _MOST_BYTES),
        )


def _short(text: str) -> str:
    return plain(text[:_LONG]).replace("\n", " ")


def _line(line: int | None, lines: int) -> int | None:
    return line if line is not None and 0 < line <= lines else None


def _count(number: int) -> int:
    return min(max(number, 0), _MOST_COUNT)
