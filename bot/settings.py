"""The bot host's environment as frozen settings; the only reader of `os.environ` in this package."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from bot.errors import SettingsError

KEY_BYTES = 32
_BROKER = re.compile(r"(?:nats://(?:localhost|127\.0\.0\.1|\[::1\])|nats\+tls://[^\s/:@]+):[0-9]{1,5}")
"""Beyond this host a broker is reached by TLS only."""
_PORTS = range(65_536)
_LOGS = ("text", "json")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Settings:
    """Where things are and who may reach them.

    `runner` is `embedded`, `unix:/PATH`, `tls://HOST:PORT` or a broker's `nats+tls://HOST:PORT`. `origins` are further
    origins (`https://host`) from which the page may be used, beside its own. `server` is PostgreSQL's address, empty
    for the SQLite file. Learners' code, outputs and files are kept for `keep_days`, the operator's backups for at most
    `backup_days`; 0 says there are none. `metrics` is where figures and health are shown (HOST:PORT), or empty.
    """

    data: Path
    content: Path
    web_host: str
    web_port: int
    origins: tuple[str, ...]
    runner: str
    runner_secret_file: Path | None
    runner_ca_file: Path | None
    server: str = field(repr=False)  # it may hold a password
    keep_days: int
    backup_days: int
    telegram_token: str = field(repr=False)  # empty where none was given
    telegram_api: str
    discord_token: str = field(repr=False)  # empty where none was given
    discord_questions: bool = False
    admins: tuple[str, ...] = ()
    answerer_url: str = ""
    answerer_model: str = ""
    answerer_key_file: Path | None = None
    metrics: str = ""
    log: str = "text"

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.data / "tasree.db"


def load(environ: Mapping[str, str]) -> Settings:
    """Read the environment.

    Raises:
        SettingsError: with every mistake at once, each naming the variable and its value.
    """
    faults: list[str] = []
    secret_file = environ.get("TASREE_RUNNER_SECRET_FILE", "")
    ca_file = environ.get("TASREE_RUNNER_CA_FILE", "")
    key_file = environ.get("TASREE_ANSWERER_KEY_FILE", "")
    settings = Settings(
        data=Path(environ.get("TASREE_DATA") or _default_data(environ)).expanduser().absolute(),
        content=Path(environ.get("TASREE_CONTENT") or _default_content()).expanduser().absolute(),
        web_host=environ.get("TASREE_WEB_HOST") or "127.0.0.1",
        web_port=_port(environ, faults),
        origins=_origins(environ, faults),
        runner=_runner(environ, faults),
        runner_secret_file=Path(secret_file).expanduser() if secret_file else None,
        runner_ca_file=Path(ca_file).expanduser() if ca_file else None,
        server=_server(environ, faults),
        keep_days=_days(environ, "TASREE_KEEP_DAYS", 30, range(1, 3651), faults),
        backup_days=_days(environ, "TASREE_BACKUP_DAYS", 30, range(3651), faults),
        telegram_token=_secret(environ, "TASREE_TELEGRAM_TOKEN", faults),
        telegram_api=(environ.get("TASREE_TELEGRAM_API") or "https://api.telegram.org").rstrip("/"),
        discord_token=_secret(environ, "TASREE_DISCORD_TOKEN", faults),
        discord_questions=_switch(environ, "TASREE_DISCORD_QUESTIONS", faults),
        admins=_admins(environ, faults),
        answerer_url=_answerer(environ, faults),
        answerer_model=environ.get("TASREE_ANSWERER_MODEL", "").strip(),
        answerer_key_file=Path(key_file).expanduser() if key_file else None,
        metrics=_metrics(environ, faults),
        log=_log(environ, faults),
    )
    if settings.answerer_key_file is not None and not settings.answerer_key_file.is_file():
        faults.append(f"TASREE_ANSWERER_KEY_FILE={settings.answerer_key_file}: no such file")
    if not (settings.content / "course.yaml").is_file():
        faults.append(f"TASREE_CONTENT={settings.content}: there is no course.yaml")
    if settings.runner != "embedded" and settings.runner_secret_file is None:
        faults.append("TASREE_RUNNER_SECRET_FILE is not set: a remote runner needs its secret in a file")
    if settings.runner_secret_file is not None and not settings.runner_secret_file.is_file():
        faults.append(f"TASREE_RUNNER_SECRET_FILE={settings.runner_secret_file}: no such file")
    if settings.runner_ca_file is not None and not settings.runner_ca_file.is_file():
        faults.append(f"TASREE_RUNNER_CA_FILE={settings.runner_ca_file}: no such file")
    if faults:
        raise SettingsError("\n".join(faults))
    return settings


def installation_key(data: Path) -> bytes:
    """Give the installation's key, made at the first start, readable by the owner alone.

    Raises:
        SettingsError: when the folder cannot be written or the key is damaged.
    """
    path = data / "key"
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            fresh = path.with_name(f"key.{secrets.token_hex(4)}")
            fresh.touch(mode=0o600)
            fresh.write_bytes(secrets.token_bytes(KEY_BYTES))
            try:
                path.hardlink_to(fresh)  # of two first starts at once, one wins and both read the winner's
            except FileExistsError:
                pass
            finally:
                fresh.unlink()
        key = path.read_bytes()
    except OSError as error:
        message = f"TASREE_DATA={data}: {error.strerror or error}"
        raise SettingsError(message) from error
    if len(key) != KEY_BYTES:
        message = f"{path}: {KEY_BYTES} bytes were expected, not {len(key)}"
        raise SettingsError(message)
    return key


def _default_data(environ: Mapping[str, str]) -> str:
    base = environ.get("XDG_DATA_HOME") or "~/.local/share"
    return f"{base}/tasree"


def _default_content() -> str:
    return str(Path(__file__).parent.parent / "content")


def _secret(environ: Mapping[str, str], name: str, faults: list[str]) -> str:
    """Read a secret from the variable, or from the file that the variable with `_FILE` behind it names."""
    path = environ.get(f"{name}_FILE", "")
    given = environ.get(name, "").strip()
    if given or not path:
        return given
    try:
        return Path(path).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        faults.append(f"{name}_FILE={path}: {getattr(error, 'strerror', None) or error}")
        return ""


def _switch(environ: Mapping[str, str], name: str, faults: list[str]) -> bool:
    text = environ.get(name) or "off"
    if text not in {"on", "off"}:
        faults.append(f"{name}={text}: on or off was expected")
    return text == "on"


def _port(environ: Mapping[str, str], faults: list[str]) -> int:
    text = environ.get("TASREE_WEB_PORT") or "8080"
    if text.isascii() and text.isdigit() and int(text) in _PORTS:
        return int(text)
    faults.append(f"TASREE_WEB_PORT={text}: a port from 0 to 65535 was expected (0 takes a free one)")
    return 0


def _days(environ: Mapping[str, str], name: str, default: int, allowed: range, faults: list[str]) -> int:
    text = environ.get(name) or str(default)
    if text.isascii() and text.isdigit() and int(text) in allowed:
        return int(text)
    faults.append(f"{name}={text}: a whole number of days from {allowed.start} to {allowed.stop - 1} was expected")
    return default


def _server(environ: Mapping[str, str], faults: list[str]) -> str:
    text = environ.get("TASREE_DATABASE") or "sqlite"
    if text == "sqlite":
        return ""
    parts = urlsplit(text)
    if parts.scheme == "postgresql+asyncpg" and parts.path.strip("/"):
        return text
    # Nothing of the value is shown: what is no address may still hold a password.
    faults.append(
        f"TASREE_DATABASE (scheme {parts.scheme[:24]!r}): sqlite, or an address that names its driver and a database, "
        "such as postgresql+asyncpg://user:password@host:5432/tasree, was expected"
    )
    return ""


def _origins(environ: Mapping[str, str], faults: list[str]) -> tuple[str, ...]:
    found = tuple(part.rstrip("/") for part in environ.get("TASREE_WEB_ORIGINS", "").split(",") if part.strip())
    for origin in found:
        parts = urlsplit(origin)
        if parts.scheme not in {"http", "https"} or not parts.netloc or parts.path or parts.query:
            faults.append(f"TASREE_WEB_ORIGINS={origin}: an origin such as https://tasree.example was expected")
    return found


def _admins(environ: Mapping[str, str], faults: list[str]) -> tuple[str, ...]:
    found = tuple(part.strip() for part in environ.get("TASREE_ADMINS", "").split(",") if part.strip())
    faults += [
        f"TASREE_ADMINS={account}: an account such as telegram:123456 was expected"
        for account in found
        if re.fullmatch(r"[a-z]{1,16}:\S{1,64}", account) is None
    ]
    return found


def _metrics(environ: Mapping[str, str], faults: list[str]) -> str:
    text = environ.get("TASREE_METRICS", "").strip()
    host, _, port = text.rpartition(":")
    if text and not (host and port.isascii() and port.isdigit() and int(port) in _PORTS):
        faults.append(f"TASREE_METRICS={text}: HOST:PORT was expected, such as 127.0.0.1:9465")
    return text


def _log(environ: Mapping[str, str], faults: list[str]) -> str:
    text = environ.get("TASREE_LOG") or "text"
    if text not in _LOGS:
        faults.append(f"TASREE_LOG={text}: text or json was expected")
    return text


def _answerer(environ: Mapping[str, str], faults: list[str]) -> str:
    text = environ.get("TASREE_ANSWERER_URL", "").strip().rstrip("/")
    if not text:
        return ""
    parts = urlsplit(text)
    known = parts.scheme in {"http", "https"} and bool(parts.hostname) and not parts.query and not parts.fragment
    if not known or "@" in parts.netloc:
        # Nothing of the value is shown: what is no address may still hold a key.
        faults.append("TASREE_ANSWERER_URL: an address such as https://llm.example/v1 was expected, the key in a file")
    elif parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        faults.append(f"TASREE_ANSWERER_URL={text}: https was expected, as learners' questions and the key go there")
    if not environ.get("TASREE_ANSWERER_MODEL", "").strip():
        faults.append("TASREE_ANSWERER_MODEL is not set: the answerer's model needs its name")
    return text


def _runner(environ: Mapping[str, str], faults: list[str]) -> str:
    text = environ.get("TASREE_RUNNER") or "embedded"
    if text == "embedded" or re.fullmatch(r"unix:/.+|tls://[^:/]+:[0-9]{1,5}", text) or _BROKER.fullmatch(text):
        return text
    faults.append(
        f"TASREE_RUNNER={text}: embedded, unix:/path, tls://host:port or nats+tls://host:port was expected "
        "(nats://host:port on this host only)"
    )
    return "embedded"
