"""What there is to know of the learners' interpreter: where it stands, what must be bound for it, what it brings.

Law: it is asked once, outside the walls, in isolated mode, before any learner's code exists; nothing is guessed.
"""

import asyncio
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from sandbox_runner.errors import SetupError
from sandbox_runner.spawning import started

INSIDE = "/env"
_ASK = """
import json, os, platform, sys
from importlib import metadata
def version(name):
    try: return metadata.version(name)
    except metadata.PackageNotFoundError: return ""
print(json.dumps({"prefix": sys.prefix, "base": sys.base_prefix, "python": platform.python_version(),
    "real": os.path.realpath(sys.executable), "numpy": version("numpy"), "torch": version("torch"),
    "matplotlib": version("matplotlib"), "executable": sys.executable}))
"""
_FONTS = "import matplotlib.font_manager"
_ASK_S = 60.0


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The learners' Python. `inside` is its path in the sandbox, `binds` host folder to folder inside."""

    inside: str
    binds: tuple[tuple[str, str], ...]
    python: str
    numpy: str
    torch: str
    matplotlib: str


async def ask_interpreter(path: str) -> Interpreter:
    """Ask the interpreter at `path` about itself.

    Raises:
        SetupError: it does not run, or does not answer as a Python does.
    """
    said = await _output(path, "-I", "-c", _ASK)
    try:
        facts = json.loads(said)
        prefix, base, real = facts["prefix"], facts["base"], facts["real"]
        executable = facts["executable"]
        versions = {name: str(facts[name]) for name in ("python", "numpy", "torch", "matplotlib")}
    except (ValueError, KeyError, TypeError) as wrong:
        message = f"{path}: not a Python that answers: {wrong}"
        raise SetupError(message) from wrong
    binds: list[tuple[str, str]] = []
    inside = executable
    if prefix != base:
        binds.append((prefix, INSIDE))
        inside = f"{INSIDE}/bin/{Path(executable).name}"
    if not _under(base, "/usr"):
        binds.append((base, base))
    if not _under(real, "/usr") and not _under(real, base) and not _under(real, prefix):
        folder = str(Path(real).parent.parent)
        binds.append((folder, folder))
    return Interpreter(inside=inside, binds=tuple(binds), **versions)


async def compile_harness(path: str, source: Path, folder: Path) -> None:
    """Copy the harness to `folder`, readable by every uid, and compile it for the learners' interpreter.

    Raises:
        SetupError: the interpreter cannot compile it.
    """
    _copy(source, folder)
    await _output(path, "-I", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", str(folder))
    _open_up(folder)


def _copy(source: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__"))


def _open_up(folder: Path) -> None:
    for path in (folder.parent, folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


async def make_font_cache(path: str, folder: Path) -> tuple[Path, ...]:
    """Let the learners' matplotlib write its list of fonts into `folder` once; none when it has no matplotlib."""
    _make(folder)
    if known := _font_lists(folder):
        return known
    try:
        await _output(path, "-I", "-c", _FONTS, environment={"MPLCONFIGDIR": str(folder), "PATH": "/usr/bin:/bin"})
    except SetupError:
        return ()
    return _font_lists(folder)


def _make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)


def _font_lists(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(folder.glob("fontlist-*.json")))


async def _output(path: str, *args: str, environment: dict[str, str] | None = None) -> bytes:
    try:
        process = await started(
            lambda: asyncio.create_subprocess_exec(
                path,
                *args,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=environment or {"PATH": "/usr/bin:/bin"},
            )
        )
    except OSError as missing:
        message = f"{path}: the learners' interpreter does not start: {missing.strerror}"
        raise SetupError(message) from missing
    try:
        async with asyncio.timeout(_ASK_S):
            out, err = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        message = f"{path}: did not answer within {_ASK_S:.0f} s"
        raise SetupError(message) from None
    if process.returncode:
        message = f"{path}: ended with {process.returncode}: {err.decode(errors='replace')[-500:].strip()}"
        raise SetupError(message)
    return out


def _under(path: str, folder: str) -> bool:
    return Path(path).is_relative_to(folder)
