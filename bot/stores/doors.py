"""The way to a database's connections: waits for one that is locked or away, and says in our words what went wrong.

Law: only the getting of a connection, and of the write lock, is tried again here: nothing was said to the database yet.
What fails later is for the caller to begin anew, whole. A fault of the database is a `StoreAwayError`; a statement that
it refuses is our own fault and stays as it is.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from sqlalchemy.exc import DBAPIError, DisconnectionError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bot.errors import StoreAwayError

LOG = logging.getLogger("tasree.store")

PATIENCE_S = 20.0
"""So long a connection is tried for: a server that restarts, or a file that another program locks for ten seconds."""
_FIRST_PAUSE_S = 0.05
_LAST_PAUSE_S = 1.0
_READ_ONLY = "25006"
_AWAY = ("08", _READ_ONLY, "40", "53", "55P03", "57", "58")
"""Classes of SQLSTATE that pass: connection, demoted, rollback, no room, lock, stopped by an operator, the system."""
_SQLITE_AWAY = frozenset({5, 6, 10, 13, 14, 15})
"""SQLite's codes that pass: busy, locked, input and output, full, cannot be opened, protocol of locks."""


class Door:
    """One engine's connections, with patience."""

    def __init__(self, engine: AsyncEngine, patience_s: float = PATIENCE_S) -> None:
        self._engine = engine
        self._patience_s = patience_s

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[AsyncConnection]:
        """Give a connection.

        Raises:
            StoreAwayError: when there is none for long, or it breaks.
        """
        async with self._opened(begin=False) as connection:
            yield connection

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[AsyncConnection]:
        """Give a connection in a transaction that is committed at the end.

        Raises:
            StoreAwayError: as above; where the commit itself broke, nobody knows whether it was done.
        """
        async with self._opened(begin=True) as connection:
            yield connection

    async def dispose(self) -> None:
        """Give the connections back."""
        await self._engine.dispose()

    @asynccontextmanager
    async def _opened(self, *, begin: bool) -> AsyncIterator[AsyncConnection]:
        try:
            async with contextlib.AsyncExitStack() as stack:
                yield await self._patiently(stack, begin=begin)
        except Exception as error:
            if not away(error):
                raise
            if isinstance(error, DBAPIError) and _state(error) == _READ_ONLY:
                await self._engine.dispose()  # another server may be the first one now: connections are made anew
            message = f"the database is locked or away: {brief(error)}"
            raise StoreAwayError(message) from error

    async def _patiently(self, stack: contextlib.AsyncExitStack, *, begin: bool) -> AsyncConnection:
        loop = asyncio.get_running_loop()
        until = loop.time() + self._patience_s
        pause = _FIRST_PAUSE_S
        while True:
            ways: AbstractAsyncContextManager[AsyncConnection]
            ways = self._engine.begin() if begin else self._engine.connect()
            try:
                return await stack.enter_async_context(ways)
            except Exception as error:
                if not away(error) or loop.time() + pause > until:
                    raise
                LOG.warning("the database is waited for: %s", brief(error))
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LAST_PAUSE_S)


def away(error: BaseException) -> bool:
    """Tell whether an error says that the database is locked, busy, restarting or gone: one that passes."""
    if isinstance(error, OSError | TimeoutError | PoolTimeoutError | DisconnectionError):
        return True
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(cause, "sqlite_errorcode", None)
    if isinstance(code, int):
        return code & 0xFF in _SQLITE_AWAY
    state = _state(error)
    if isinstance(error, DBAPIError):
        return error.connection_invalidated or state.startswith(_AWAY) or (not state and "connection" in str(cause))
    # What asyncpg raises while it connects comes as it is; the package need not be there.
    return type(error).__module__.startswith("asyncpg") and state.startswith(_AWAY)


def _state(error: BaseException) -> str:
    """Give the SQLSTATE; empty where there is none."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return str(getattr(cause, "sqlstate", None) or "")


def brief(error: BaseException) -> str:
    """Give the first line of what a database said, without the statement and its values."""
    told = str(error.orig) if isinstance(error, DBAPIError) else str(error)
    return (told.strip() or type(error).__name__).splitlines()[0][:200]
