"""The runner's log: one JSON object a line, for an operator and a machine.

Law: never code, output, a secret or a learner's name; a learner appears as eight hex digits keyed anew each start.
"""

import hashlib
import json
import traceback
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TextIO


class Journal:
    """Writes events to a stream, with the time that `now` says."""

    def __init__(self, stream: TextIO, now: Callable[[], datetime], salt: bytes) -> None:
        self._stream = stream
        self._now = now
        self._salt = salt

    def note(self, event: str, **values: str | float | bool | None) -> None:
        """Write one line: the event's name, then its figures and codes."""
        line = {"time": self._now().isoformat(timespec="milliseconds"), "event": event, **values}
        self._stream.write(json.dumps(line, ensure_ascii=True) + "\n")
        self._stream.flush()

    def learner(self, learner: str) -> str:
        """Hash a learner for a line."""
        return hashlib.blake2s(learner.encode("utf-8", "replace"), key=self._salt[:32], digest_size=4).hexdigest()


def where(fault: BaseException) -> str:
    """Name a fault of ours and the places it passed, without its words (they may quote a learner's code)."""
    frames = traceback.extract_tb(fault.__traceback__)[-4:]
    places = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames))
    return f"{type(fault).__name__} at {places}" if places else type(fault).__name__
