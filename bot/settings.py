"""The bot host's environment as frozen settings; the only reader of `os.environ` in this package."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from bot.errors import SettingsError

KEY_BYTES = 32
_BROKER = re.compile(r"(?:nats://(?:localhost|127\.0\.0\.1|\[::1\])|nats\+tls://[^\s/:@]+):[0-9]{1,5}")
"""Beyond this host a broker is reached by TLS only."""
_PORTS = range(65_536)
_DIGITS = 9
"""No number here has more; Python refuses to read those of thousands."""
_SHOWN = 120
_NO_FILE = "no such file"
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
    settings = Settings(
        data=_path("TASREE_DATA", environ.get("TASREE_DATA") or _default_data(environ), faults).absolute(),
        content=_path("TASREE_CONTENT", environ.get("TASREE_CONTENT") or _default_content(), faults).absolute(),
        web_host=_web_host(environ, faults),
        web_port=_port(environ, faults),
        origins=_origins(environ, faults),
        runner=_runner(environ, faults),
        runner_secret_file=_file(environ, "TASREE_RUNNER_SECRET_FILE", faults),
        runner_ca_file=_file(environ, "TASREE_RUNNER_CA_FILE", faults),
        server=_server(environ, faults),
        keep_days=_days(environ, "TASREE_KEEP_DAYS", 30, range(1, 3651), faults),
        backup_days=_days(environ, "TASREE_BACKUP_DAYS", 30, range(3651), faults),
        telegram_token=_secret(environ, "TASREE_TELEGRAM_TOKEN", faults),
        telegram_api=_telegram_api(environ, faults),
        discord_token=_secret(environ, "TASREE_DISCORD_TOKEN", faults),
        discord_questions=_switch(environ, "TASREE_DISCORD_QUESTIONS", faults),
        admins=_admins(environ, faults),
        answerer_url=_answerer(environ, faults),
        answerer_model=environ.get("TASREE_ANSWERER_MODEL", "").strip(),
        answerer_key_file=_file(environ, "TASREE_ANSWERER_KEY_FILE", faults),
        metrics=_metrics(environ, faults),
        log=_log(environ, faults),
    )
    if (why := _no_file(settings.content / "course.yaml")) is not None:
        why = "there is no course.yaml" if why == _NO_FILE else f"course.yaml: {why}"
        faults.append(f"TASREE_CONTENT={_shown(str(settings.content))}: {why}")
    if settings.runner != "embedded" and not environ.get("TASREE_RUNNER_SECRET_FILE"):
        faults.append("TASREE_RUNNER_SECRET_FILE is not set: a remote runner needs its secret in a file")
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


def _shown(text: str) -> str:
    """Give a value as an error shows it: on one line, not endless, and such that any terminal can print it."""
    short = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text)} characters)"
    return short if short.isprintable() else ascii(short)


def _shown_file(name: str, text: str) -> str:
    """Give a variable that names a file and its value; a value without a folder may be the secret itself."""
    hidden = "/" not in text and name not in {"TASREE_DATA", "TASREE_CONTENT"}
    return f"{name} (not shown: it names no folder)" if hidden else f"{name}={_shown(text)}"


def _path(name: str, text: str, faults: list[str]) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # ~USER, and there is no such user
        faults.append(f"{_shown_file(name, text)}: there is no such home directory")
        return Path(text)


def _no_file(path: Path) -> str | None:
    """Say why there is no file to be read there; None where there is one."""
    try:
        return None if path.is_file() else _NO_FILE
    except OSError as error:  # a folder that is closed to us, a name that is too long
        return error.strerror or str(error)


def _file(environ: Mapping[str, str], name: str, faults: list[str]) -> Path | None:
    """Give the file that the variable names; None where it is not set."""
    text = environ.get(name, "")
    if not text:
        return None
    before = len(faults)
    path = _path(name, text, faults)
    if len(faults) == before and (why := _no_file(path)) is not None:
        faults.append(f"{_shown_file(name, text)}: {why}")
    return path


def _whole_in(text: str, allowed: range) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _DIGITS and int(text) in allowed


def _split(text: str) -> SplitResult | None:
    """Take an address apart; None where it is none, its port included."""
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return None
    return parts


def _telegram_api(environ: Mapping[str, str], faults: list[str]) -> str:
    text = (environ.get("TASREE_TELEGRAM_API") or "https://api.telegram.org").rstrip("/")
    parts = _split(text)
    known = parts is not None and parts.scheme in {"http", "https"} and parts.hostname and not parts.query
    if not known or not text.isprintable() or " " in text:
        faults.append(f"TASREE_TELEGRAM_API={_shown(text)}: an address such as https://api.telegram.org was expected")
    return text


def _secret(environ: Mapping[str, str], name: str, faults: list[str]) -> str:
    """Read a secret from the variable, or from the file that the variable with `_FILE` behind it names."""
    path = environ.get(f"{name}_FILE", "")
    given = environ.get(name, "").strip()
    if given or not path:
        return given
    try:
        return Path(path).expanduser().read_text(encoding="utf-8").strip()
    except UnicodeDecodeError as error:  # the error's own words would show a byte of it
        why = f"byte {error.start} is not UTF-8"
    except (OSError, RuntimeError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or "there is no such home directory"
    faults.append(f"{_shown_file(f'{name}_FILE', path)}: {why}")
    return ""


def _may_be_host(text: str) -> bool:
    """Say whether the resolver could be asked for the name; it fails without a sentence where it could not."""
    try:
        text.encode("idna")
    except UnicodeError:
        return False
    return text.isprintable() and " " not in text


def _web_host(environ: Mapping[str, str], faults: list[str]) -> str:
    text = environ.get("TASREE_WEB_HOST") or "127.0.0.1"
    if not _may_be_host(text):
        faults.append(f"TASREE_WEB_HOST={_shown(text)}: a host's name or address was expected, such as 127.0.0.1")
    return text


def _switch(environ: Mapping[str, str], name: str, faults: list[str]) -> bool:
    text = environ.get(name) or "off"
    if text not in {"on", "off"}:
        faults.append(f"{name}={_shown(text)}: on or off was expected")
    return text == "on"


def _port(environ: Mapping[str, str], faults: list[str]) -> int:
    text = environ.get("TASREE_WEB_PORT") or "8080"
    if _whole_in(text, _PORTS):
        return int(text)
    faults.append(f"TASREE_WEB_PORT={_shown(text)}: a port from 0 to 65535 was expected (0 takes a free one)")
    return 0


def _days(environ: Mapping[str, str], name: str, default: int, allowed: range, faults: list[str]) -> int:
    text = environ.get(name) or str(default)
    if _whole_in(text, allowed):
        return int(text)
    most = allowed.stop - 1
    faults.append(f"{name}={_shown(text)}: a whole number of days from {allowed.start} to {most} was expected")
    return default


def _server(environ: Mapping[str, str], faults: list[str]) -> str:
    text = environ.get("TASREE_DATABASE") or "sqlite"
    if text == "sqlite":
        return ""
    parts = _split(text)
    if parts is not None and parts.scheme == "postgresql+asyncpg" and parts.path.strip("/"):
        return text
    scheme = _shown(text.partition(":")[0][:24]) if "://" in text else ""
    # Nothing of the value is shown: what is no address may still hold a password.
    faults.append(
        f"TASREE_DATABASE (scheme {scheme!r}): sqlite, or an address that names its driver and a database, "
        "such as postgresql+asyncpg://user:password@host:5432/tasree, was expected"
    )
    return ""


def _origins(environ: Mapping[str, str], faults: list[str]) -> tuple[str, ...]:
    found = tuple(part.rstrip("/") for part in environ.get("TASREE_WEB_ORIGINS", "").split(",") if part.strip())
    for origin in found:
        parts = _split(origin)
        known = parts is not None and parts.scheme in {"http", "https"} and _may_be_host(parts.netloc)
        if parts is None or not known or not parts.netloc or parts.path or parts.query:
            faults.append(f"TASREE_WEB_ORIGINS={_shown(origin)}: an origin such as https://tasree.example was expected")
    return found


def _admins(environ: Mapping[str, str], faults: list[str]) -> tuple[str, ...]:
    found = tuple(part.strip() for part in environ.get("TASREE_ADMINS", "").split(",") if part.strip())
    faults += [
        f"TASREE_ADMINS={_shown(account)}: an account such as telegram:123456 was expected"
        for account in found
        if re.fullmatch(r"[a-z]{1,16}:\S{1,64}", account) is None
    ]
    return found


def _metrics(environ: Mapping[str, str], faults: list[str]) -> str:
    text = environ.get("TASREE_METRICS", "").strip()
    host, _, port = text.rpartition(":")
    if text and not (host and _may_be_host(host) and _whole_in(port, _PORTS)):
        faults.append(f"TASREE_METRICS={_shown(text)}: HOST:PORT was expected, such as 127.0.0.1:9465")
    return text


def _log(environ: Mapping[str, str], faults: list[str]) -> str:
    text = environ.get("TASREE_LOG") or "text"
    if text not in _LOGS:
        faults.append(f"TASREE_LOG={_shown(text)}: text or json was expected")
    return text


def _answerer(environ: Mapping[str, str], faults: list[str]) -> str:
    text = environ.get("TASREE_ANSWERER_URL", "").strip().rstrip("/")
    if not text:
        return ""
    parts = _split(text)
    known = (
        parts is not None
        and parts.scheme in {"http", "https"}
        and bool(parts.hostname)
        and not (parts.query or parts.fragment or " " in text)
    )
    if parts is None or not known or "@" in parts.netloc:
        # Nothing of the value is shown: what is no address may still hold a key.
        faults.append("TASREE_ANSWERER_URL: an address such as https://llm.example/v1 was expected, the key in a file")
    elif parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        faults.append(
            f"TASREE_ANSWERER_URL={_shown(text)}: https was expected, as learners' questions and the key go there"
        )
    if not environ.get("TASREE_ANSWERER_MODEL", "").strip():
        faults.append("TASREE_ANSWERER_MODEL is not set: the answerer's model needs its name")
    return text


def _runner(environ: Mapping[str, str], faults: list[str]) -> str:
    text = environ.get("TASREE_RUNNER") or "embedded"
    if text == "embedded" or re.fullmatch(r"unix:/.+", text):
        return text
    known = re.fullmatch(r"tls://[^:/]+:[0-9]{1,5}", text) or _BROKER.fullmatch(text)
    host, _, port = text.rpartition("://")[2].rpartition(":")
    if known and _may_be_host(host) and _whole_in(port, _PORTS):
        return text
    faults.append(
        f"TASREE_RUNNER={_shown(text)}: embedded, unix:/path, tls://host:port or nats+tls://host:port was expected "
        "(nats://host:port on this host only)"
    )
    return "embedded"
