"""That what we compiled serves every job, and that nothing a job writes is ever in it for another.

But for the last, these parents load nothing: what is kept is a stand-in, and no compiler runs.
"""

import hashlib
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sandbox_runner import assembly, preparing
from sandbox_runner.errors import SetupError
from sandbox_runner.protocol import Ending, Job, JobKind, Limits, Machine, Result
from sandbox_runner.sandbox.bubblewrap import Bubblewrap, open_bubblewrap
from sandbox_runner.sandbox.host import SandboxSettings
from sandbox_runner.settings import read_settings
from sandbox_runner.warm import caches
from sandbox_runner.warm.parent import Nest, Parent, start_parent
from sandbox_runner.warm.proving import OnlyWaited, OnlyWarm
from sandbox_runner.worker import SandboxWorker

if TYPE_CHECKING:
    from conftest import Walls

pytestmark = pytest.mark.sandbox
WRITES = """
import os, pathlib  # a word by which it is known to compile
base = pathlib.Path("/tmp/torchinductor_learner")
ours = base / "ab" / "entry.py"
print(ours.read_text(), ours.is_symlink(), (base / "precompiled_headers" / "h.h").read_text())
for path in ("/compiled/ab/entry.py", "/compiled/ab/new.py", str(ours)):
    try:
        open(path, "w").close()
    except OSError as refused:
        print(refused.errno)
for change in (lambda: os.chmod("/compiled/ab/entry.py", 0o777), lambda: os.unlink("/compiled/ab/entry.py")):
    try:
        change()
    except OSError as refused:
        print(refused.errno)
ours.unlink(); ours.write_text("poison = True")
(base / "ab" / "more.py").write_text("poison = True")
print(sorted(path.name for path in (base / "ab").iterdir()), ours.read_text())
"""
ERRORS = {"1", "13", "30"}
"""EPERM, EACCES, EROFS: how a write is refused."""


@pytest.fixture
async def sandbox(walls: "Walls", learners_python: Path) -> AsyncIterator[Bubblewrap]:
    """Give a sandbox whose folder other users can see into."""
    base_uid = 990_000 + os.getpid() % 10_000 * 8
    opened = await open_bubblewrap(SandboxSettings(str(learners_python), base_uid=base_uid))
    yield opened
    await opened.close()


def _kept(folder: Path) -> Path:
    """Make what might have been kept: an entry, and the header without which none works."""
    for name, content in (("ab/entry.py", "good = True"), ("precompiled_headers/h.h", "header"), ("facts.json", "{}")):
        path = folder / name
        path.parent.mkdir(mode=0o755, exist_ok=True, parents=True)
        path.write_text(content)
        path.chmod(0o644)
    return folder


def _digest(folder: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        found.update(f"{path} {path.lstat().st_mode} {path.lstat().st_mtime_ns}".encode())
        found.update(path.read_bytes() if path.is_file() else b"")
    return found.hexdigest()


async def _run(worker: SandboxWorker, source: str) -> Result:
    job = Job("test", JobKind.RUN, source, "learner", limits=Limits(run_s=20.0))
    return await worker.run_job(job, 0, lambda _: None)


@pytest.mark.parametrize("way", [OnlyWarm, OnlyWaited])
async def test_what_a_job_writes_where_we_compiled_reaches_neither_the_cache_nor_the_next_job(
    sandbox: Bubblewrap, way: type[OnlyWarm]
) -> None:
    folder = _kept(sandbox.host.folder / "kept")
    before = _digest(folder)
    parent = await start_parent(sandbox, Nest(slot=7, modules=(), compiled=str(folder), vectors="1"))
    try:
        worker = SandboxWorker(way(parent), Machine(), grace_s=1.0)
        for _ in range(2):
            result = await _run(worker, WRITES)
            assert result.ending is Ending.OK, result.stderr
            first, *refused, last = result.stdout.head.splitlines()
            assert first == "good = True True header"
            assert (len(refused), set(refused) <= ERRORS) == (5, True)
            assert last == "['entry.py', 'more.py'] poison = True"
            assert _digest(folder) == before
    finally:
        await parent.end()


async def test_code_that_compiles_nothing_finds_the_header_alone(sandbox: Bubblewrap) -> None:
    folder = _kept(sandbox.host.folder / "kept")
    parent = await start_parent(sandbox, Nest(slot=7, modules=(), compiled=str(folder), vectors="1"))
    try:
        worker = SandboxWorker(OnlyWarm(parent), Machine(), grace_s=1.0)
        result = await _run(worker, "import os\nprint(sorted(os.listdir('/tmp/torchinductor_learner')))")
        assert result.stdout.head == "['precompiled_headers']\n"
    finally:
        await parent.end()


def test_only_new_regular_files_of_known_kinds_are_brought_over(tmp_path: Path) -> None:
    folder, workshop = _kept(tmp_path / "kept"), tmp_path / "workshop"
    secret = tmp_path / "secret.py"
    secret.write_text("of the host")
    for name, content in (
        ("ab/entry.py", "changed"), ("cd/new.so", "code"), ("cd/run.sh", "#!"), ("facts.json", "x"),
        ("triton/0/KEY/kernel.json", "in its entry too"), ("cd/triton/tuned.best_config", "{}"),
    ):  # fmt: skip
        path = workshop / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(content)
    (workshop / "cd" / "link.py").symlink_to(secret)
    os.mkfifo(workshop / "cd" / "pipe.py")
    caches._merge(workshop, folder, {"vectors": "1", "examples": ["digest"]})
    assert (folder / "ab" / "entry.py").read_text() == "good = True"
    assert sorted(path.name for path in (folder / "cd").iterdir()) == ["new.so", "triton"]
    assert (folder / "cd" / "triton" / "tuned.best_config").exists()
    assert not (folder / "triton").exists()
    assert ((folder / "cd" / "new.so").stat().st_mode & 0o777) == 0o755
    assert json.loads((folder / "facts.json").read_text()) == {"vectors": "1", "examples": ["digest"]}


def test_a_folder_that_is_not_ours_or_not_whole_counts_for_nothing(tmp_path: Path) -> None:
    assert caches._facts(tmp_path) == {}
    (tmp_path / "facts.json").write_text('{"vectors": "1"')
    assert caches._facts(tmp_path) == {}
    (tmp_path / "facts.json").write_text('{"vectors": "1", "examples": []}')
    assert caches._facts(tmp_path) == {"vectors": "1", "examples": []}
    if os.geteuid() == 0:
        os.chown(tmp_path, 12345, 12345)
        assert caches._facts(tmp_path) == {}


def test_what_was_kept_of_an_image_that_nobody_has_used_for_long_is_removed(tmp_path: Path) -> None:
    now = 1e9
    for name, days in (("compiled-own", 400), ("compiled-old", 61), ("compiled-used", 59), ("matplotlib-3", 400)):
        _kept(tmp_path / name)
        os.utime(tmp_path / name / "facts.json", (now - days * 86400, now - days * 86400))
    (tmp_path / "compiled-torn").mkdir()
    caches._sweep(tmp_path / "compiled-own", now)
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["compiled-own", "compiled-torn", "compiled-used", "matplotlib-3"]


def test_examples_are_the_files_of_a_folder_that_can_be_read_and_are_small(tmp_path: Path) -> None:
    (tmp_path / "lesson").mkdir()
    (tmp_path / "lesson" / "one.py").write_text("print(1)")
    (tmp_path / "lesson" / "large.py").write_text("#" * (65 << 10))
    (tmp_path / "lesson" / "torn.py").write_bytes(b"\xff")
    (tmp_path / "lesson" / "one.txt").write_text("1")
    os.mkfifo(tmp_path / "lesson" / "pipe.py")
    (tmp_path / "lesson" / "without_end.py").symlink_to("/dev/zero")
    assert preparing.read_examples(tmp_path) == {str(tmp_path / "lesson" / "one.py"): "print(1)"}
    assert preparing.read_examples(tmp_path / "nowhere") == preparing.read_examples(None) == {}


async def test_a_folder_of_examples_that_is_none_stops_the_start(learners_python: Path, tmp_path: Path) -> None:
    found = read_settings({"TASREE_SANDBOX_PYTHON": str(learners_python), "TASREE_RUNNER_EXAMPLES": f"{tmp_path}/none"})
    with pytest.raises(SetupError, match=r"TASREE_RUNNER_EXAMPLES names .*/none, which is no folder"):
        await assembly.assemble(found, 1)


async def test_an_example_that_failed_once_is_not_tried_again_by_itself_but_when_it_is_asked_for(
    sandbox: Bubblewrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _kept(sandbox.host.folder / "kept")
    (folder / "facts.json").write_text('{"vectors": "1"}')
    monkeypatch.setattr(caches, "_folder", lambda *_: folder)
    place = preparing.Place(Nest(7, ()))
    sources = {"good": "print('compile')", "bad": "1 / 0  # compile", "plain": "print(1)"}

    async def prepared(*, again: bool) -> dict[str, str]:
        told = preparing.Told()
        but = caches.prepared(sandbox) | (frozenset() if again else caches.failed(sandbox))
        await preparing.prepare_sources(sandbox, place, sources, but, told)
        return told.endings

    assert await prepared(again=False) == {"good": "ok", "bad": "py_error", "plain": "plain"}
    assert (len(caches.prepared(sandbox)), len(caches.failed(sandbox))) == (1, 1)
    assert await prepared(again=False) == {"good": "kept", "bad": "kept", "plain": "plain"}
    told = await prepared(again=True)
    assert (told["good"], told["bad"]) == ("kept", "py_error")


HITS = """
from torch._dynamo.utils import counters
print("hits", counters["inductor"]["fxgraph_cache_hit"], "misses", counters["inductor"]["fxgraph_cache_miss"])
"""


@pytest.mark.soak
async def test_an_example_of_the_course_is_found_compiled(learners_python: Path, repository: Path) -> None:
    example = (repository / "content" / "lessons" / "compile" / "check_install.py").read_text(encoding="utf-8")
    told = await assembly.prepare_examples(
        read_settings({"TASREE_SANDBOX_PYTHON": str(learners_python)}), {"one": example}
    )
    assert told["one"] in {"kept", Ending.OK.value}
    sandbox = await open_bubblewrap(SandboxSettings(str(learners_python)))
    parent: Parent | None = None
    try:
        parent = await start_parent(sandbox, caches.nest_of(sandbox, Nest(7)))
        result = await _run(SandboxWorker(OnlyWaited(parent), Machine()), example + HITS)
        words = result.stdout.head.split()
        assert (result.ending, words[-4], words[-2:]) == (Ending.OK, "hits", ["misses", "0"]), result.stderr
        assert int(words[-3]) > 0
    finally:
        if parent is not None:
            await parent.end()
        await sandbox.close()
