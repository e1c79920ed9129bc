"""Runs a program of the tests as on a host whose wall clock is wrong; what only counts seconds goes on as it does.

Arguments: how many seconds the clock is ahead, the program, its arguments.
"""

import datetime as dt
import runpy
import sys
import time
from typing import Self

AHEAD_S = float(sys.argv[1])
real, real_ns = time.time, time.time_ns


class Elsewhen(dt.datetime):
    """A point in time as this host takes it."""

    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> Self:
        """Give the time."""
        return cls.fromtimestamp(time.time(), tz)


if __name__ == "__main__":
    time.time = lambda: real() + AHEAD_S
    time.time_ns = lambda: real_ns() + int(AHEAD_S * 1e9)
    dt.datetime = Elsewhen  # type: ignore[misc]
    sys.argv = sys.argv[2:]
    sys.path.insert(0, str(sys.argv[0]).rpartition("/")[0])
    runpy.run_path(sys.argv[0], run_name="__main__")
