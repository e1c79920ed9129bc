"""A bot in a process of its own that can be killed at any point and started again."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

FORKER = Path(__file__).with_name("forker.py")


class Killable:
    """A bot in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def tell(self, word: str) -> str:
        """Say a word to the forker, and hear that it was done."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if word:
            self.process.stdin.write(f"{word}\n".encode())
        return (await self.process.stdout.readline()).decode().strip()


@asynccontextmanager
async def forked(database: object, url: str, token: str, port: int = 0) -> AsyncIterator[Killable]:
    """Give a bot that is not started yet; with a port it is heard by webhook there."""
    words = [str(database), url, token, str(port)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(FORKER), *words, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    bot = Killable(process)
    try:
        assert await bot.tell("") == "ready"
        yield bot
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()
