"""A runner's figures, counted from its journal, as `showing.py` shows them (`GET /metrics`).

Law: figures and codes only: no learner, no job's id, nothing of a snippet. Off unless the setting is given.
"""

from collections import Counter
from collections.abc import Callable, Iterator

from sandbox_runner.journal import Journal
from sandbox_runner.protocol import Capabilities
from sandbox_runner.showing import Histogram, head, line


class Tally(Journal):
    """A journal that also counts what is noted in it. `clock` gives seconds."""

    def __init__(self, inner: Journal, clock: Callable[[], float]) -> None:
        self._inner = inner
        self._clock = clock
        self._since: dict[str, float] = {}
        self.ended: Counter[tuple[str, str]] = Counter()
        """Runs by kind and ending."""
        self.took = Histogram()
        """Answers by kind."""
        self.faults = 0
        self.shut: set[str] = set()
        """GPUs that are not lent until they are proven again."""

    def note(self, event: str, **values: str | float | bool | None) -> None:
        """Write one line, and count."""
        self._inner.note(event, **values)
        job = str(values.get("job", ""))
        match event:
            case "accepted":
                self._since[job] = self._clock()
            case "fault":
                self.faults += 1
            case "gpu_quarantined":
                self.shut.add(str(values.get("gpu", "")))
            case "gpu_lent_again":
                self.shut.discard(str(values.get("gpu", "")))
            case "finished":
                kind = str(values["kind"])
                self.ended[kind, str(values["ending"])] += 1
                since = self._since.pop(job, None)
                if since is not None:
                    self.took.add(kind, self._clock() - since)

    def learner(self, learner: str) -> str:
        """Hash a learner for a line."""
        return self._inner.learner(learner)

    def oldest_s(self) -> float:
        """Give the age of the oldest job that has no answer yet."""
        return max((self._clock() - since for since in self._since.values()), default=0.0)


def as_text(able: Capabilities, counts: dict[str, int], tally: Tally) -> str:
    """Write everything."""
    return "\n".join((*_gauges(able, counts, tally), *_counters(tally))) + "\n"


def _gauges(able: Capabilities, counts: dict[str, int], tally: Tally) -> Iterator[str]:
    for name, what, value in (
        ("queued", "Jobs that wait.", counts["queued"]),
        ("running", "Jobs that run.", counts["running"]),
        ("slots", "Jobs that may run at once.", able.slots),
        ("oldest_job_seconds", "Age of the oldest job without an answer.", round(tally.oldest_s(), 3)),
        ("noise_ratio", "Spread of one block on equal work (A/A); 0 while it was not measured.", able.noise),
        ("gpus_quarantined", "GPUs that are not lent until a kernel of ours is right on them.", len(tally.shut)),
    ):
        yield from _head(name, what, "gauge")
        yield line(f"tasree_runner_{name}", value)
    yield from _head(
        "wall_stands", "Whether a wall stands, as proven from inside; warm_start: a warm parent is kept.", "gauge"
    )
    for wall in able.walls:
        matters = str(wall.matters).lower()
        yield line("tasree_runner_wall_stands", int(wall.stands), wall=wall.name, matters=matters)
    yield from _head("device", "The devices that jobs may ask for.", "gauge")
    yield from (line("tasree_runner_device", 1, device=device.value) for device in able.devices)


def _counters(tally: Tally) -> Iterator[str]:
    yield from _head("faults_total", "Faults of the runner's own.", "counter")
    yield line("tasree_runner_faults_total", tally.faults)
    yield from _head("runs_total", "Runs that ended, by kind and ending.", "counter")
    for (kind, ending), count in sorted(tally.ended.items()):
        yield line("tasree_runner_runs_total", count, kind=kind, ending=ending)
    yield from _head("answer_seconds", "From a job's acceptance to its result.", "histogram")
    yield from tally.took.lines("tasree_runner_answer_seconds", "kind")


def _head(name: str, what: str, kind: str) -> tuple[str, str]:
    return head(f"tasree_runner_{name}", what, kind)
