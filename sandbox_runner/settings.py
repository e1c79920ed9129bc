"""The runner's host, read from its environment once, at the entry.

Law: nothing else in this package reads `os.environ`, and every mistake is told at once, naming variable and value.
"""

import difflib
import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox_runner.errors import SetupError

_DIGITS = 12
"""No number here has more; Python refuses to read those of thousands."""
SECRET_CHARACTERS = 16
"""A secret has at least so many; `python -c 'import secrets; print(secrets.token_urlsafe(32))'` makes a good one."""


_BROKER = re.compile(
    r"(?:nats://(?:localhost|127\.0\.0\.1|\[::1\])|nats\+tls://(?:[^\s/:@]+|\[[0-9a-f:]+\])):[0-9]{1,5}"
)
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")


class SettingsError(SetupError):
    """What is wrong with the environment: `faults`, one sentence each."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


@dataclass(frozen=True, slots=True)
class Settings:
    """A runner's host. `slots` is 0 where the host's cores decide; empty paths are not set."""

    python: str = ""
    socket: Path | None = None
    listen: str = ""
    tls_cert: Path | None = None
    tls_key: Path | None = None
    secret_file: Path | None = None
    secret: str = ""
    nats: str = ""
    """A broker (`nats+tls://HOST:PORT`, on this host `nats://`) from which jobs are taken, in place of an address."""
    name: str = ""
    nats_seed_file: Path | None = None
    nats_ca_file: Path | None = None
    metrics: str = ""
    """`HOST:PORT` on which figures are shown; off where it is empty."""
    slots: int = 0
    queue: int = 100
    a_learner: int = 2
    a_minute: int = 120
    source_bytes: int = 256 << 10
    keep_s: float = 600.0
    drain_s: float = 60.0
    accept_missing: tuple[str, ...] = ()
    lock: Path = Path()
    sandbox: str = "bubblewrap"
    base_uid: int = 64_100
    """Slot 0's uid where root starts the runner; each further slot has the next one, the warm parent one above."""
    gpus: tuple[int, ...] | None = None
    """The numbers of the device nodes (`/dev/nvidia0` is 0) that may be lent; None: every one that is there."""
    warm: bool = True
    """Whether jobs are started from a warm parent where one can be had. A runner of one job starts none."""
    gpu_waiting: int = 1
    """How many children wait on each GPU with a context of their own for the next job."""
    examples: Path | None = None
    """A folder of ours whose Python files are compiled once in idle moments, for warm starts to find; None: none."""

    def __repr__(self) -> str:
        """Show the settings without the secret."""
        return f"Settings(python={self.python!r}, socket={self.socket}, listen={self.listen!r}, slots={self.slots})"


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the environment: the setting that it fills, and how its text is read."""

    name: str
    setting: str
    read: Callable[[str], object]


def _path(text: str) -> Path:
    if not text.startswith("/"):
        message = "is not an absolute path"
        raise ValueError(message)
    return Path(text)


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS and least <= int(text) <= most):
            message = f"is not a whole number from {least} to {most}"
            raise ValueError(message)
        return int(text)

    return read


def _numbers(text: str) -> tuple[int, ...]:
    if text == "none":
        return ()
    read = _whole(0, 255)
    found = tuple(read(name) for name in text.replace(",", " ").split())
    if len(set(found)) != len(found):
        message = "names a GPU twice"
        raise ValueError(message)
    return tuple(sorted(found))


def _seconds(text: str) -> float:
    return float(_whole(0, 86_400)(text))


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.replace(",", " ").split() if name)


def _one_of(*names: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in names:
            message = f"is none of {', '.join(names)}"
            raise ValueError(message)
        return text

    return read


def host_and_port(text: str) -> tuple[str, int]:
    """Read `HOST:PORT`, `[IPV6]:PORT` or `:PORT` (loopback). Raises ValueError."""
    host, colon, port = text.rpartition(":")
    if not colon or not (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= 65_535):  # noqa: PLR2004 - the largest port
        message = "is not HOST:PORT"
        raise ValueError(message)
    host = host.strip("[]") or "127.0.0.1"
    try:
        host.encode("idna")  # as the resolver will, which fails without a sentence
    except UnicodeError:
        message = "does not begin with a host's name or address"
        raise ValueError(message) from None
    return host, int(port)


def broker(text: str) -> str:
    """Read a broker's address: `nats+tls://HOST:PORT`, or `nats://` on this host only. Raises ValueError."""
    if not _BROKER.fullmatch(text) or int(text.rpartition(":")[2]) > 65_535:  # noqa: PLR2004 - the largest port
        message = "is not nats://HOST:PORT of this host (127.0.0.1, localhost) or nats+tls://HOST:PORT"
        raise ValueError(message)
    return text


def runner_name(text: str) -> str:
    """Read a runner's name, under which the broker knows it. Raises ValueError."""
    if not _NAME.fullmatch(text):
        message = "is not 1 to 32 of a-z, 0-9 and inner hyphens"
        raise ValueError(message)
    return text


def _listen(text: str) -> str:
    host_and_port(text)
    return text


def _secret(text: str) -> str:
    if len(text) < SECRET_CHARACTERS:
        message = f"is shorter than {SECRET_CHARACTERS} characters"
        raise ValueError(message)
    return text


def _switch(text: str) -> bool:
    return _one_of("on", "off")(text) == "on"


VARIABLES: tuple[Variable, ...] = (
    Variable("TASREE_SANDBOX_PYTHON", "python", lambda text: str(_path(text))),
    Variable("TASREE_SANDBOX_KIND", "sandbox", _one_of("bubblewrap", "runsc")),
    Variable("TASREE_RUNNER_BASE_UID", "base_uid", _whole(1_000, 4_000_000_000)),
    Variable("TASREE_RUNNER_GPUS", "gpus", _numbers),
    Variable("TASREE_RUNNER_WARM", "warm", _switch),
    Variable("TASREE_RUNNER_GPU_WAITING", "gpu_waiting", _whole(0, 2)),
    Variable("TASREE_RUNNER_EXAMPLES", "examples", _path),
    Variable("TASREE_RUNNER_SOCKET", "socket", _path),
    Variable("TASREE_RUNNER_LISTEN", "listen", _listen),
    Variable("TASREE_RUNNER_TLS_CERT", "tls_cert", _path),
    Variable("TASREE_RUNNER_TLS_KEY", "tls_key", _path),
    Variable("TASREE_RUNNER_SECRET_FILE", "secret_file", _path),
    Variable("TASREE_RUNNER_SECRET", "secret", _secret),
    Variable("TASREE_RUNNER_NATS", "nats", broker),
    Variable("TASREE_RUNNER_NAME", "name", runner_name),
    Variable("TASREE_RUNNER_NATS_SEED_FILE", "nats_seed_file", _path),
    Variable("TASREE_RUNNER_NATS_CA_FILE", "nats_ca_file", _path),
    Variable("TASREE_RUNNER_METRICS", "metrics", _listen),
    Variable("TASREE_RUNNER_SLOTS", "slots", _whole(1, 256)),
    Variable("TASREE_RUNNER_QUEUE", "queue", _whole(1, 10_000)),
    Variable("TASREE_RUNNER_JOBS_A_LEARNER", "a_learner", _whole(1, 100)),
    Variable("TASREE_RUNNER_JOBS_A_MINUTE", "a_minute", _whole(1, 100_000)),
    Variable("TASREE_RUNNER_SOURCE_BYTES", "source_bytes", _whole(1, 512 << 10)),
    Variable("TASREE_RUNNER_KEEP_SECONDS", "keep_s", _seconds),
    Variable("TASREE_RUNNER_DRAIN_SECONDS", "drain_s", _seconds),
    Variable("TASREE_RUNNER_ACCEPT_MISSING", "accept_missing", _names),
    Variable("TASREE_RUNNER_LOCK", "lock", _path),
)


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Read the settings; an empty variable counts as not set.

    Raises:
        SettingsError: every variable that cannot be used, and those whose name is nearly one of ours.
    """
    given = dict(os.environ if environment is None else environment)
    faults = [fault for name in sorted(given) if (fault := _misspelt(name)) is not None]
    values: dict[str, Any] = {"lock": _default_lock(), "python": _default_python()}
    for variable in VARIABLES:
        text = given.get(variable.name, "").strip()
        if not text:
            continue
        try:
            values[variable.setting] = variable.read(text)
        except ValueError as fault:
            # What is no path where a file belongs may be the secret itself.
            hidden = variable.setting in {"secret", "secret_file", "nats_seed_file"}
            shown = "(not shown)" if hidden else ascii(text[:80])
            faults.append(f"{variable.name}: {shown} {fault}")
    if faults:
        raise SettingsError(tuple(faults))
    return Settings(**values)


def _misspelt(name: str) -> str | None:
    """Say which variable was meant by a name that is nearly one of ours. Others may be the bot's."""
    known = [variable.name for variable in VARIABLES]
    prefix = next((prefix for prefix in ("TASREE_RUNNER_", "TASREE_SANDBOX_") if name.startswith(prefix)), None)
    if prefix is None or name in known:
        return None
    ends = [other.removeprefix(prefix) for other in known if other.startswith(prefix)]
    near = difflib.get_close_matches(name.removeprefix(prefix), ends, n=1, cutoff=0.8)
    return f"{name}: no such setting; {prefix}{near[0]} was meant?" if near else None


def _default_python() -> str:
    """Give the learners' interpreter of a checkout, as its set-up makes it; empty where there is none."""
    path = Path(__file__).resolve().parent.parent / ".venv-learners" / "bin" / "python"
    return str(path) if path.exists() else ""


def _default_lock() -> Path:
    """Give one lock a host and user: measurements of root's runner and of an ordinary user's are told apart."""
    return Path("/run/lock" if os.access("/run/lock", os.W_OK) else "/tmp") / f"tasree-measuring-{os.getuid()}"  # noqa: S108


def read_secret(path: Path) -> str:
    """Read a secret from a file that not everyone may read.

    Raises:
        SetupError: naming the file and what is wrong with it, never what is in it.
    """
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else "it is not UTF-8"
        message = f"the secret file {path} cannot be read: {why}"
        raise SetupError(message) from None
    if mode & (stat.S_IROTH | stat.S_IWOTH | stat.S_IWGRP):
        message = f"the secret file {path} may be read or changed by others (mode {stat.S_IMODE(mode):o}); chmod 600 it"
        raise SetupError(message)
    if len(text) < SECRET_CHARACTERS:
        message = f"the secret in {path} is shorter than {SECRET_CHARACTERS} characters"
        raise SetupError(message)
    return text
