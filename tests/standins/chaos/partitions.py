"""A network of its own for a process, and a cable to it that can be cut: packets are lost as they are between cities.

Law: needs root and `ip`; everything made is taken away again.
"""

import os
import secrets
import shutil
import subprocess
from dataclasses import dataclass


def lacks() -> str:
    """Say what this host lacks; empty when it can cut cables."""
    if os.geteuid() != 0:
        return "only root may make networks"
    if shutil.which("ip") is None:
        return "the program ip is not installed"
    name = f"tasree-{secrets.token_hex(4)}"
    tried = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        return f"ip netns add: {tried.stderr.strip()}"
    _ip("netns", "delete", name)
    return ""


@dataclass(slots=True)
class Network:
    """A network with one cable to this host, which is `here` on it."""

    name: str
    cable: str
    here: str

    @classmethod
    def made(cls) -> "Network":
        """Make one, at addresses by chance that nobody uses."""
        mark = secrets.token_hex(4)
        net = f"10.{100 + secrets.randbelow(100)}.{secrets.randbelow(256)}"
        name, cable = f"tasree-{mark}", f"tasree{mark}"
        _ip("netns", "add", name)
        _ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", name)
        _ip("addr", "add", f"{net}.1/30", "dev", cable)
        _ip("link", "set", cable, "up")
        _ip("-n", name, "addr", "add", f"{net}.2/30", "dev", "eth0")
        _ip("-n", name, "link", "set", "eth0", "up")
        return cls(name, cable, f"{net}.1")

    @property
    def path(self) -> str:
        """Give what a process enters the network by."""
        return f"/run/netns/{self.name}"

    def cut(self) -> None:
        """Cut the cable: nobody on either side is told."""
        _ip("link", "set", self.cable, "down")

    def mend(self) -> None:
        """Mend the cable."""
        _ip("link", "set", self.cable, "up")

    def remove(self) -> None:
        """Take it away."""
        for words in (("link", "delete", self.cable), ("netns", "delete", self.name)):
            subprocess.run(["ip", *words], capture_output=True, check=False)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], capture_output=True, text=True, check=True)
