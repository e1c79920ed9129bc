"""What every test may ask for, what this host can run, and the count of what it cannot.

Law: a test that cannot run here is skipped by its marker, with the reason, and counted at the end. Where the
environment says `CI`, the walls, the browser and PostgreSQL must be there: what is missing stops the run instead.
"""

import contextlib
import ctypes.util
import json
import os
import platform
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from content import loader, recorded
from content.faults import CourseError

if not os.environ.get("CI"):  # there hypothesis is calm and repeatable by itself
    settings.register_profile("calm", deadline=None)
    settings.load_profile("calm")

ROOT = Path(__file__).resolve().parent.parent
SOAK_RESULT = ROOT / "tests" / "soak" / "last.json"
_MOST_NAMED = 10


def _learners_python() -> Path:
    return Path(os.environ.get("TASREE_SANDBOX_PYTHON") or ROOT / ".venv-learners" / "bin" / "python")


def _sandbox_lacks() -> str:
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    if ctypes.util.find_library("seccomp") is None:
        return "libseccomp is not installed"
    if not _learners_python().exists():
        return f"the learners' interpreter {_learners_python()} is not there (make setup)"
    return ""


def _browser_lacks() -> str:
    return "" if shutil.which("chromium") else "chromium is not installed"


def _gpu_lacks() -> str:
    return "" if Path("/dev/nvidiactl").exists() else "no NVIDIA GPU on this host"


def _services_lacks() -> str:
    here = shutil.which("initdb") or any(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return "" if here else "PostgreSQL's programs are not installed (make setup-all)"


NEEDS: dict[str, Callable[[], str]] = {
    "sandbox": _sandbox_lacks,
    "browser": _browser_lacks,
    "gpu": _gpu_lacks,
    "services": _services_lacks,
}
"""Marker to what this host lacks for it, as a sentence; empty when it can run."""

MUST_STAND_IN_CI = ("sandbox", "browser", "services")


@pytest.fixture(scope="session")
def repository() -> Path:
    """Give the checkout's root."""
    return ROOT


@pytest.fixture(scope="session")
def learners_python() -> Path:
    """Give the interpreter that learners' code runs under, as the default setting names it."""
    return _learners_python()


@pytest.fixture(scope="session")
def app_python() -> Path:
    """Give the interpreter that `make setup` installed Tasree into."""
    return ROOT / ".venv" / "bin" / "python"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="run what is marked soak, and keep its result")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    lacks = {marker: look() for marker, look in NEEDS.items()}
    if not config.getoption("--soak"):
        lacks["soak"] = "long: run by `make soak`"
    needed = {marker for item in items for marker in lacks if item.get_closest_marker(marker)}
    if os.environ.get("CI"):
        absent = [lacks[marker] for marker in MUST_STAND_IN_CI if marker in needed and lacks[marker]]
        if absent:
            raise pytest.UsageError("; ".join(absent))
    for item in items:
        for marker, reason in lacks.items():
            if reason and item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=f"{marker}: {reason}"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count what was skipped, by its marker."""
    reports = terminalreporter.stats.get("skipped", [])
    counts = Counter(_marker_of(report) for report in reports)
    said = ", ".join(f"{count} {marker}" for marker, count in sorted(counts.items()))
    terminalreporter.write_line(f"skipped by marker: {said or 'nothing'}")
    with contextlib.suppress(CourseError):
        left = recorded.wanting(loader.load_course())
        terminalreporter.write_line(f"recorded measurements missing or stale: {len(left)}")
        for each in left[:_MOST_NAMED]:
            terminalreporter.write_line(f"  {each}")


def _marker_of(report: pytest.TestReport) -> str:
    return next((marker for marker in ("soak", *NEEDS) if marker in report.keywords), "unmarked")


def _kept_of_before() -> dict[str, dict[str, Any]]:
    """Give what soak tests said in earlier runs: a part run anew does not make the other parts forgotten."""
    try:
        kept: dict[str, dict[str, Any]] = json.loads(SOAK_RESULT.read_text())["tests"]
    except (OSError, ValueError, KeyError):
        return {}
    return {name: said for name, said in kept.items() if (ROOT / name.partition("::")[0]).exists()}


class _SoakResults:
    """Collects what each soak test said, and writes it down when all have ended."""

    def __init__(self) -> None:
        self.tests: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        self.started = datetime.now(UTC)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.tests[report.nodeid] |= {
                "outcome": report.outcome,
                "seconds": round(report.duration, 1),
                "at": self.started.isoformat(timespec="seconds"),
                **dict(report.user_properties),
            }

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        if not self.tests:
            return
        tests = dict(sorted((_kept_of_before() | self.tests).items()))
        counts = Counter(test["outcome"] for test in tests.values())
        result = {
            "started": self.started.isoformat(timespec="seconds"),
            "exit_status": int(exitstatus),
            "machine": {"cores": os.cpu_count(), "kernel": platform.release(), "python": platform.python_version()},
            "counts": dict(sorted(counts.items())),
            "tests": tests,
        }
        SOAK_RESULT.parent.mkdir(exist_ok=True)
        SOAK_RESULT.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--soak"):
        config.pluginmanager.register(_SoakResults(), "soak-results")
