"""Starts a process of ours, and tries again for some seconds where the host has none left at the moment (EAGAIN).

Law: only that is tried again; nothing was begun then. What else is wrong is for the caller to say.
"""

import asyncio
import errno
from collections.abc import Awaitable, Callable

PATIENCE_S = 10.0
_FIRST_PAUSE_S, _LAST_PAUSE_S = 0.05, 1.0

Start = Callable[[], Awaitable[asyncio.subprocess.Process]]


async def started(start: Start, patience_s: float = PATIENCE_S) -> asyncio.subprocess.Process:
    """Start it.

    Raises:
        OSError: it cannot be started, or the host had no process left for that long.
    """
    clock = asyncio.get_running_loop().time
    until, pause = clock() + patience_s, _FIRST_PAUSE_S
    while True:
        try:
            return await start()
        except OSError as fault:
            if fault.errno != errno.EAGAIN or clock() + pause > until:
                raise
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LAST_PAUSE_S)
