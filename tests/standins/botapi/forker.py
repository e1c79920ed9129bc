"""A program that starts the bot again and again in processes of its own, to be killed at any point.

It loads everything once, then forks: `start` on its input starts a bot and prints its process id, `kill` ends it by
SIGKILL and prints `killed`, `stop` by SIGTERM.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from bot.adapters.telegram.serve import TelegramChat, TelegramSettings, secret
from bot.adapters.telegram.webhook import Webhook
from bot.app import App, SystemClock, SystemDice
from bot.posting.pacing import Limits
from bot.stores import postgres, sqlite
from bot.testing import InstantRunner, ParsingChecker
from bot.waking import Waker
from content.loader import load_course
from content.schema import Course

KEY = b"k" * 32
QUICK = Limits(chat=(1000, 1.0), group=(1000, 1.0), overall=(1000, 1.0))


async def serve(course: Course, database: str, url: str, token: str, port: int) -> None:
    """Serve until the process is ended; by webhook where there is a port."""
    settings = TelegramSettings(
        token, url, QUICK, edit_every_s=0.02, join_s=0.1, read_s=5.0, poll_s=5, again_s=0.05, lease_s=3.0
    )
    chat = TelegramChat(settings, course)
    if database.startswith("postgresql"):
        store = postgres.open_store(database, KEY, SystemDice().identity)
    else:
        store = sqlite.open_store(Path(database), KEY, SystemDice().identity)
    await chat.attach(store)
    app = App(
        course=course,
        store=store,
        runner=InstantRunner(),
        checker=ParsingChecker(),
        clock=SystemClock(),
        dice=SystemDice(),
        chat=chat,
    )
    await app.start(adopt=True)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    webhook = Webhook("https://bot.example/telegram", "127.0.0.1", port, secret(KEY)) if port else None
    waker = asyncio.create_task(Waker(app, store, SystemClock(), "telegram", 0.5).run())
    async with chat.serving(app, webhook):
        await stop.wait()
    waker.cancel()
    await asyncio.gather(waker, return_exceptions=True)
    await app.close()
    await chat.aclose()
    await store.close()


def say(text: str) -> None:
    """Write a line."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(database: str, url: str, token: str, port: int) -> None:
    """Obey the lines of the input."""
    course = load_course()
    child = 0
    say("ready")
    for line in sys.stdin:
        match line.strip():
            case "start":
                child = os.fork()
                if child == 0:
                    asyncio.run(serve(course, database, url, token, port))
                    os._exit(0)
                say(str(child))
            case "kill" | "stop" as word:
                os.kill(child, signal.SIGKILL if word == "kill" else signal.SIGTERM)
                os.waitpid(child, 0)
                child = 0
                say(f"{word}ed")
    if child:
        os.kill(child, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
