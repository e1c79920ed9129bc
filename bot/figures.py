"""A bot's own figures for Prometheus: turns, runs, what waits, what stands (`GET /metrics`), and whether it is ready.

Law: figures and codes only: no learner, no chat, no run's id, no text. What is counted here decides nothing.
"""

import logging
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator

from bot.ports import Backlog, Runner
from sandbox_runner.errors import RunnerError
from sandbox_runner.protocol import Capabilities, Device, Ending, Event, Finished, Job, Result
from sandbox_runner.showing import Histogram, head, line

TURNS_S = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
QUARANTINED = "gpu_quarantined"
"""The runner's note beside a job that its GPU was not lent to."""


class Figures:
    """What one bot counts; `clock` gives seconds that only grow."""

    def __init__(self, platform: str, clock: Callable[[], float]) -> None:
        self.platform = platform
        self._clock = clock
        self._turns = Histogram(TURNS_S)
        self._runs: Counter[tuple[str, str]] = Counter()
        self._took = Histogram()
        self._under_way: dict[str, float] = {}
        self._logged: Counter[tuple[str, str]] = Counter()
        self.runner: bool | None = None
        """Whether a runner answers; None before that was asked."""
        self.gpu_shut: bool | None = None
        """Whether the last job for a GPU found it shut; None before there was one."""
        self.store: bool | None = None
        self.platform_trouble = "not connected yet"
        self.backlog = Backlog()
        self.incidents: frozenset[str] = frozenset()
        """The names of those that last."""

    def turned(self, event: str, took_s: float) -> None:
        """Count an event that was answered."""
        self._turns.add(event, took_s)

    def logged(self, level: str, logger: str) -> None:
        """Count a warning or worse."""
        self._logged[level, logger] += 1

    def begun(self, job: Job) -> None:
        """Note a run that was sent."""
        self._under_way[job.id] = self._clock()

    def ended(self, job: Job, result: Result | None) -> None:
        """Count how a run ended; None where it has no end here: no runner answered, or this bot stops."""
        since = self._under_way.pop(job.id, None)
        if result is None or since is None:
            return
        self._runs[job.kind.value, result.ending.value] += 1
        self._took.add(job.kind.value, self._clock() - since)
        if any(note.code == QUARANTINED for note in result.notes):
            self.gpu_shut = True
        elif result.device is Device.CUDA and result.ending is not Ending.INFRA_ERROR:
            self.gpu_shut = False

    def ready(self) -> tuple[bool, str]:
        """Say whether learners are answered now, and what stands in the way."""
        wrong = (
            []
            if self.store
            else ["the store does not answer" if self.store is False else "the store was not asked yet"]
        )
        wrong += [f"{self.platform}: {self.platform_trouble}"] if self.platform_trouble else []
        return not wrong, "".join(f"{each}\n" for each in wrong) or "ready\n"

    def page(self) -> tuple[bool, str]:
        """Write everything."""
        return True, "\n".join((*self._gauges(), *self._counters())) + "\n"

    def _gauges(self) -> Iterator[str]:
        waits = self.backlog
        for name, what, value in (
            ("runner_up", "Whether a runner answers.", int(bool(self.runner))),
            ("gpu_quarantined", "Whether the last job for a GPU found it shut.", int(bool(self.gpu_shut))),
            ("store_up", "Whether the database answers.", int(bool(self.store))),
            ("platform_up", "Whether the chat platform is connected.", int(not self.platform_trouble)),
            ("runs_under_way", "Runs that this bot follows.", len(self._under_way)),
            ("runs_waiting", "Runs in the store without an end.", waits.runs),
            ("oldest_run_seconds", "Age of the oldest of them.", round(waits.runs_s, 1)),
            ("outbox_behind", "Chats whose replies are late.", waits.behind),
            ("outbox_oldest_seconds", "Age of the latest of them.", round(waits.behind_s, 1)),
            ("arrivals_unanswered", "Updates that are late to be answered.", waits.unanswered),
            ("arrivals_oldest_seconds", "Age of the oldest of them.", round(waits.unanswered_s, 1)),
        ):
            yield from _head(name, what, "gauge")
            yield line(f"tasree_bot_{name}", value, platform=self.platform)
        yield from _head("incident", "What admins were told of and is not over.", "gauge")
        yield from (line("tasree_bot_incident", 1, incident=name) for name in sorted(self.incidents))

    def _counters(self) -> Iterator[str]:
        yield from _head("turn_seconds", "From an event to the showing of its answer.", "histogram")
        yield from self._turns.lines("tasree_bot_turn_seconds", "event")
        yield from _head("runs_total", "Runs that ended, by kind and ending.", "counter")
        for (kind, ending), count in sorted(self._runs.items()):
            yield line("tasree_bot_runs_total", count, kind=kind, ending=ending)
        yield from _head("run_seconds", "From the sending of a job to its end, its waiting included.", "histogram")
        yield from self._took.lines("tasree_bot_run_seconds", "kind")
        yield from _head("log_lines_total", "Warnings and errors in the log.", "counter")
        for (level, logger), count in sorted(self._logged.items()):
            yield line("tasree_bot_log_lines_total", count, level=level, logger=logger)


def _head(name: str, what: str, kind: str) -> tuple[str, str]:
    return head(f"tasree_bot_{name}", what, kind)


class CountedRunner:
    """Another runner, whose answers are counted; implements the port `Runner`."""

    def __init__(self, inner: Runner, figures: Figures) -> None:
        self._inner = inner
        self._figures = figures

    async def capabilities(self) -> Capabilities:
        """Ask, and note whether it answers."""
        try:
            able = await self._inner.capabilities()
        except RunnerError:
            self._figures.runner = False
            raise
        self._figures.runner = True
        return able

    async def submit(self, job: Job) -> AsyncGenerator[Event, None]:
        """Follow a job to its end, and count it."""
        self._figures.begun(job)
        events = self._inner.submit(job)
        try:
            async for event in events:
                if isinstance(event, Finished):
                    self._figures.ended(job, event.result)
                yield event
        finally:
            self._figures.ended(job, None)
            if isinstance(events, AsyncGenerator):
                await events.aclose()

    async def cancel(self, job_id: str) -> None:
        """Stop a job."""
        await self._inner.cancel(job_id)


class LogCount(logging.Handler):
    """Counts warnings and errors of ours, by logger; never what they say."""

    def __init__(self, figures: Figures) -> None:
        super().__init__(logging.WARNING)
        self._figures = figures

    def emit(self, record: logging.LogRecord) -> None:
        """Count one."""
        name = record.name if record.name.startswith(("tasree", "bot.")) else "other"
        self._figures.logged(record.levelname.lower(), name)
