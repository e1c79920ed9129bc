"""Posts updates to webhooks as the platform does: what belongs to one chat one after the other, each until it is taken.

Law: which of several doors a post goes to is chance; sometimes it goes to two at once, as when an answer got lost.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from botapi.world import World

HEAD = "X-Telegram-Bot-Api-Secret-Token"
PATH = "/telegram"
AGAIN_S = 0.05


class Balancer:
    """Stands between the platform and several bots; `doors` gives their ports."""

    def __init__(self, world: World, doors: Callable[[], list[int]], chance: random.Random, twice: float) -> None:
        self._world = world
        self._doors = doors
        self._chance = chance
        self._twice = twice
        self._queues: dict[str, asyncio.Task[None]] = {}
        self.posts = 0
        self.refused = 0

    async def run(self) -> None:
        """Post for ever."""
        posted: set[int] = set()
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(10)) as session:
            try:
                while True:
                    for update in [one for one in self._world.updates if one["update_id"] not in posted]:
                        posted.add(update["update_id"])
                        name = _queue(update)
                        before = self._queues.get(name)
                        self._queues[name] = asyncio.create_task(self._post(session, update, before))
                    self._world.news.clear()
                    await self._world.news.wait()
            finally:
                for task in self._queues.values():
                    task.cancel()
                await asyncio.gather(*self._queues.values(), return_exceptions=True)

    async def _post(
        self, session: aiohttp.ClientSession, update: dict[str, Any], before: "asyncio.Task[None] | None"
    ) -> None:
        if before is not None:
            await before
        while True:
            count = 2 if self._chance.random() < self._twice else 1
            doors = self._doors()
            tries = [self._tried(session, door, update) for door in self._chance.sample(doors, min(count, len(doors)))]
            if any(await asyncio.gather(*tries)):
                self._world.updates.remove(update)
                self._world.confirmed.append(update)
                return
            await asyncio.sleep(AGAIN_S)

    async def _tried(self, session: aiohttp.ClientSession, door: int, update: dict[str, Any]) -> bool:
        self.posts += 1
        heads = {HEAD: self._world.webhook.get("secret_token", "")}
        try:
            async with session.post(f"http://127.0.0.1:{door}{PATH}", json=update, headers=heads) as answer:
                self.refused += answer.status != 200
                return answer.status == 200
        except (aiohttp.ClientError, TimeoutError, OSError):
            return False


@asynccontextmanager
async def posting(
    world: World, doors: Callable[[], list[int]], seed: int = 5, twice: float = 0.2
) -> AsyncIterator[Balancer]:
    """Post a world's updates while the block runs."""
    balancer = Balancer(world, doors, random.Random(seed), twice)  # noqa: S311 - chance that comes again
    task = asyncio.create_task(balancer.run())
    try:
        yield balancer
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _queue(update: dict[str, Any]) -> str:
    """Name the queue of an update: of a chat, or of whoever pressed, as the platform's own server does it."""
    if "callback_query" in update:
        return f"press {update['callback_query']['from']['id']}"
    return f"chat {next(one['chat']['id'] for one in update.values() if isinstance(one, dict) and 'chat' in one)}"
