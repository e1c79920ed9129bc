import ast
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("bot", "content", "sandbox_runner")
ENGINE_MAY_USE = {
    "content.schema",
    "sandbox_runner.codec",
    "sandbox_runner.errors",
    "sandbox_runner.protocol",
}
BOT_MAY_USE = ENGINE_MAY_USE | {
    "sandbox_runner.broker.line",
    "sandbox_runner.broker.submitting",
    "sandbox_runner.broker.seen",
    "sandbox_runner.client",
    "sandbox_runner.looking",
    "sandbox_runner.showing",
}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES, cache_dir=None)


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def foreign_imports(graph: grimp.ImportGraph, package: str) -> dict[str, set[str]]:
    modules = {package, *graph.find_descendants(package)}
    return {
        module: {used for used in graph.find_modules_directly_imported_by(module) if used not in modules}
        for module in modules
    }


def test_no_init_file_stands_under_tests() -> None:
    assert list((ROOT / "tests").rglob("__init__.py")) == []


def test_package_roots_hold_a_docstring_and_import_nothing() -> None:
    roots = [path for package in PACKAGES for path in (ROOT / package).rglob("__init__.py")]
    assert len(roots) >= len(PACKAGES)
    for path in roots:
        body = ast.parse(path.read_text()).body
        assert len(body) == 1, path
        assert isinstance(body[0], ast.Expr), path
        assert ast.get_docstring(ast.parse(path.read_text())), path


def test_every_module_opens_with_a_sentence_on_what_it_is_for() -> None:
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            if "lessons" not in path.parts:
                assert ast.get_docstring(ast.parse(path.read_text())), path


def test_no_module_has_a_name_that_says_nothing() -> None:
    for path in tracked("*.py"):
        assert path.stem not in {"utils", "util", "helpers", "helper", "common", "manager", "core", "misc", "consts"}


def test_the_engine_uses_nothing_of_ours_but_the_schema_and_the_protocol(graph: grimp.ImportGraph) -> None:
    for module, used in foreign_imports(graph, "bot.engine").items():
        ours = {name for name in used if name.split(".")[0] in PACKAGES}
        assert ours - {"bot.errors"} <= ENGINE_MAY_USE, module


def test_the_bot_knows_the_runner_by_its_protocol_and_client_only(graph: grimp.ImportGraph) -> None:
    for module, used in foreign_imports(graph, "bot").items():
        assert {name for name in used if name.startswith("sandbox_runner")} <= BOT_MAY_USE, module


def test_only_the_settings_and_entries_read_the_environment() -> None:
    # What runs behind the walls reads the environment made for it there.
    inside = {"harness", "sandbox", "lessons", "attempt.py"}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            if path.name not in {"settings.py", "__main__.py"} and not inside & set(path.parts):
                assert not re.search(r"\bos\.(environ|getenv)\b", path.read_text()), path


def test_every_requirement_names_one_version() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for name, requirements in extras.items():
        for requirement in requirements:
            assert requirement.startswith("tasree[") or re.fullmatch(r"[\w.\[\]-]+==[\w.]+", requirement), name


def test_the_locks_hold_what_the_extras_ask_for() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    dev, app, learners = (
        set((ROOT / "requirements" / f"{lock}.lock").read_text().splitlines()[1:])
        for lock in ("dev", "app", "learners")
    )
    assert app < dev
    assert not any(line.startswith("torch==") for line in dev)
    locked = {"content": app, "bot": app, "web": app, "runner": app, "build": app, "dev": dev, "learners": learners}
    for name, lock in locked.items():
        for requirement in extras[name]:
            if not requirement.startswith("tasree["):
                assert re.sub(r"\[.*\]", "", requirement).lower().replace("_", "-") in lock, name


def test_every_package_that_ours_import_is_locked() -> None:
    graph = grimp.build_graph(*PACKAGES, include_external_packages=True, cache_dir=None)
    locked = {line.split("==")[0] for line in (ROOT / "requirements" / "app.lock").read_text().splitlines()[1:]}
    owners = importlib.metadata.packages_distributions()
    for module in graph.modules:
        top = module.split(".")[0]
        inside = all(
            by.startswith("sandbox_runner.harness.") for by in graph.find_modules_that_directly_import(module)
        )  # what the harness imports belongs to the learners' environment
        if top not in PACKAGES and top not in sys.stdlib_module_names and not inside:
            names = {re.sub(r"[-_.]+", "-", name).lower() for name in owners.get(top, [top])}
            assert names & locked, f"{top} is imported by {graph.find_modules_that_directly_import(module)}"


def test_no_tracked_text_names_the_folder_it_was_written_in() -> None:
    for path in tracked("*.py", "*.toml", "*.md", "*.sh", "*.yaml", "*.yml", "*.json", "*.example", "Makefile"):
        assert f"{ROOT}/" not in path.read_text(), path


def test_the_architecture_page_names_every_module_of_the_layers() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    page = (ROOT / "ARCHITECTURE.md").read_text()
    drawn = page[page.index("across: ") :].split("```", maxsplit=1)[0]
    for contract in contracts:
        if contract["type"] == "layers":
            for layer in contract["layers"]:
                for module in layer.split(" | "):
                    assert re.search(rf"\b{module}\b", drawn), module
