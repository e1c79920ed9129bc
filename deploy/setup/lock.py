"""Write requirements/*.lock: every package that an environment gets, with one version each.

Law: the versions of direct requirements are decided in pyproject.toml alone; pip resolves the rest. A lock names no
registry, so it installs from whatever pip is set up to use. Local version parts (`+cpu`) are left off: which build of a
version is taken is the host's choice.
"""

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "requirements"
OURS = re.compile(r"^tasree\[(?P<extras>[^\]]+)\]$")

LOCKS: dict[str, tuple[str, ...]] = {
    "dev": ("dev",),
    "app": ("web", "telegram", "discord", "postgres", "runner", "nats", "build"),
    "learners": ("learners",),
}
"""Lock to extras. `dev` comes first: `app` is resolved within it, so that both agree in every version."""


def expand(extras: dict[str, list[str]], name: str) -> set[str]:
    """Give the requirements of an extra, with references to our own extras followed."""
    found: set[str] = set()
    for requirement in extras[name]:
        ours = OURS.match(requirement)
        if ours is None:
            found.add(requirement)
        else:
            for inner in ours["extras"].split(","):
                found |= expand(extras, inner.strip())
    return found


def resolve(requirements: set[str], constraints: Path | None) -> list[tuple[str, str]]:
    """Ask pip which packages, by name and version, these requirements bring; nothing is installed.

    Raises:
        subprocess.CalledProcessError: when pip finds no set of versions; what it said stands on stderr.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "-qq"]
        command += ["--report", str(report), *sorted(requirements)]
        command += ["--constraint", str(constraints)] if constraints else []
        subprocess.run(command, check=True)  # noqa: S603 - our own interpreter with names from pyproject.toml
        found: list[dict[str, Any]] = json.loads(report.read_text())["install"]
    pairs = ((item["metadata"]["name"], item["metadata"]["version"].split("+")[0]) for item in found)
    return sorted((re.sub(r"[-_.]+", "-", name).lower(), version) for name, version in pairs)


def main() -> None:
    """Write every lock."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for lock, names in LOCKS.items():
        wanted = set[str]().union(*(expand(extras, name) for name in names))
        pins = resolve(wanted, FOLDER / "dev.lock" if lock == "app" else None)
        head = f"# Made by `make lock` from the extras {', '.join(names)} of pyproject.toml; not to be edited.\n"
        (FOLDER / f"{lock}.lock").write_text(head + "".join(f"{name}=={version}\n" for name, version in pins))


if __name__ == "__main__":
    main()
