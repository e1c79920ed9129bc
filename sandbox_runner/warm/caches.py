"""What torch's compiler keeps, made by us once an image and card: a header, the dummies, and the course's examples.

Law: every entry is code that is run by whoever reads it, so only our own is kept: made behind walls by parents that
bear no learner's job, handed to jobs read-only, and nothing of a job ever comes back. The key names all that it
depends on. Sizes in bytes.
"""

import asyncio
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from sandbox_runner.errors import SetupError
from sandbox_runner.sandbox.bubblewrap import Bubblewrap
from sandbox_runner.sandbox.interpreter import Interpreter
from sandbox_runner.warm.parent import Nest, Parent, start_parent

_FACTS = "facts.json"
_WELL, _ILL = "examples", "failed"
_KINDS = (".h", ".gch", ".so", ".cpp", ".py", ".json", ".best_config", "")
_IN_ENTRIES = "triton"
"""The folder of Triton's kernels: each entry of a compiled graph holds its own kernels too, and puts them there."""
_LARGEST = 512 << 20
_UNUSED_S, _LEFT_S = 60 * 86400.0, 86400.0

Use = Callable[[Parent], AsyncIterator[tuple[str, bool]]]
"""Runs examples of ours in a parent's children; gives the digest of each when it is over, and whether it went well."""


def nest_of(sandbox: Bubblewrap, nest: Nest) -> Nest:
    """Give what a parent is made with: with the compiler where what it keeps was made for this image and card."""
    folder = _folder(sandbox.host.interpreter, nest.card)
    facts = _facts(folder)
    if not facts:
        return nest
    with suppress(OSError):
        os.utime(folder / _FACTS)  # it is used
    return replace(nest, compiled=str(folder), vectors=str(facts["vectors"]))


def prepared(sandbox: Bubblewrap, card: str = "") -> frozenset[str]:
    """Give the digests of the examples whose code is there already, for the processor or for a card."""
    return _listed(_facts(_folder(sandbox.host.interpreter, card)), _WELL)


def failed(sandbox: Bubblewrap, card: str = "") -> frozenset[str]:
    """Give the digests of the examples that did not end well when they were tried."""
    return _listed(_facts(_folder(sandbox.host.interpreter, card)), _ILL)


async def build(sandbox: Bubblewrap, nest: Nest) -> Nest:
    """Make the header and the dummies for this image, and try its vector instructions: some twenty seconds, once.

    For a card there is nothing to make beforehand but the place: each child that waits on it compiles a kernel itself.

    Raises:
        SetupError: no parent with a compiler can be had here, or the folder cannot be written.
    """
    folder = _folder(sandbox.host.interpreter, nest.card)
    with _open_workshop(folder) as workshop:
        vectors = "" if nest.card else await _dummies(sandbox, nest, workshop)
        await _in_thread(_merge, workshop, folder, {"vectors": vectors, "examples": []})
    await asyncio.to_thread(_sweep, folder, time.time())
    return nest_of(sandbox, nest)


async def _dummies(sandbox: Bubblewrap, nest: Nest, workshop: Path) -> str:
    """Have parents compile there; give what was found of the CPU's vector instructions."""
    _give(workshop, sandbox, nest.slot)
    vectors = ""
    for _ in range(2):  # once to try the instructions, once with what was found, as every parent will compile
        parent = await start_parent(sandbox, replace(nest, vectors=vectors, building=str(workshop)))
        vectors = str(parent.ready.get("vectors", ""))
        await parent.end()
    return vectors


async def prepare(sandbox: Bubblewrap, nest: Nest, slot: int, use: Use) -> None:
    """Let examples of ours be compiled in `slot`, and keep what comes of each beside what is there when it is over.

    Raises:
        SetupError: as `build`.
    """
    nest = nest_of(sandbox, nest)
    if not nest.compiled:
        nest = await build(sandbox, nest)
    folder = Path(nest.compiled)
    with _open_workshop(folder) as workshop:
        await _in_thread(partial(shutil.copytree, folder, workshop, dirs_exist_ok=True))
        _give(workshop, sandbox, slot)
        parent = await start_parent(sandbox, replace(nest, building=str(workshop)))
        try:
            async for digest, well in use(parent):
                facts = _facts(folder)
                for name, here in ((_WELL, well), (_ILL, not well)):
                    facts[name] = sorted(_listed(facts, name) | {digest} if here else _listed(facts, name) - {digest})
                await _in_thread(_merge, workshop, folder, facts)
        finally:
            await parent.end()


async def _in_thread(work: Callable[..., object], *words: object) -> None:
    """Do it in a thread, to its end: what it uses must not go before it when it is given up.

    Raises:
        SetupError: a file cannot be read or written.
    """
    working = asyncio.ensure_future(asyncio.to_thread(work, *words))
    try:
        await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait({working})
        raise
    except OSError as fault:
        message = f"what the compiler makes cannot be kept: {fault.strerror or fault}"
        raise SetupError(message) from fault


def _listed(facts: Mapping[str, object], name: str) -> frozenset[str]:
    kept = facts.get(name, ())
    return frozenset(str(one) for one in kept) if isinstance(kept, list) else frozenset()


def _open_workshop(folder: Path) -> "_Workshop":
    try:
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        return _Workshop(prefix="workshop-", dir=folder.parent)
    except OSError as fault:
        message = f"{folder.parent} cannot be written: {fault.strerror}"
        raise SetupError(message) from fault


class _Workshop(tempfile.TemporaryDirectory[str]):
    """A folder that goes with its user; as a path."""

    def __enter__(self) -> Path:  # type: ignore[override]  # what it gives is used as nothing else
        path = Path(super().__enter__())
        path.chmod(0o755)
        return path


def _give(workshop: Path, sandbox: Bubblewrap, slot: int) -> None:
    """Let what runs in this slot write there, where its uid is not ours."""
    if not sandbox.host.root:
        return
    uid = sandbox.host.uid_of(slot)
    for path in (workshop, *workshop.rglob("*")):
        os.chown(path, uid, uid, follow_symlinks=False)


def _merge(workshop: Path, folder: Path, facts: dict[str, object]) -> None:
    """Bring over what is new: regular files under their own names, for us to write and for everyone to read."""
    folder.mkdir(mode=0o755, exist_ok=True)
    for here, folders, names in os.walk(workshop):
        if here == str(workshop):
            folders[:] = [name for name in folders if name != _IN_ENTRIES]
        there = folder / Path(here).relative_to(workshop)
        there.mkdir(mode=0o755, exist_ok=True)
        for name in names:
            source, target = Path(here, name), there / name
            fit = source.suffix in _KINDS and not source.is_symlink() and source.is_file()
            if fit and name != _FACTS and not target.exists() and source.stat().st_size <= _LARGEST:
                _place(source.read_bytes(), target)
    _place(json.dumps(facts, indent=1).encode("ascii"), folder / _FACTS)


def _place(content: bytes, target: Path) -> None:
    aside = target.with_name(f".{target.name}.{os.getpid()}")
    aside.write_bytes(content)
    aside.chmod(0o755 if target.suffix == ".so" else 0o644)
    aside.replace(target)


def _sweep(folder: Path, now: float) -> None:
    """Remove what was kept of images that no runner has used for long, and what killed ones left; each takes 150 MB."""
    for other in folder.parent.glob("workshop-*"):
        with suppress(OSError):
            status = other.lstat()
            if status.st_uid == os.geteuid() and now - status.st_mtime > _LEFT_S:
                shutil.rmtree(other, ignore_errors=True)
    for other in folder.parent.glob("compiled-*"):
        with suppress(OSError):
            unused_s = now - (other / _FACTS).stat().st_mtime
            if other != folder and other.lstat().st_uid == os.geteuid() and unused_s > _UNUSED_S:
                shutil.rmtree(other, ignore_errors=True)


def _facts(folder: Path) -> dict[str, object]:
    """Read what is known of a folder; nothing where it is not there, not whole or not ours."""
    try:
        if folder.stat().st_uid != os.geteuid():
            return {}
        found = json.loads((folder / _FACTS).read_text(encoding="ascii"))
        return found if isinstance(found, dict) and isinstance(found.get("vectors"), str) else {}
    except (OSError, ValueError):
        return {}


def _folder(interpreter: Interpreter, card: str) -> Path:
    cache = Path("/var/cache") if os.geteuid() == 0 else Path.home() / ".cache"
    return cache / "tasree" / f"compiled-{_key(interpreter, card)}"


def _key(interpreter: Interpreter, card: str) -> str:
    """Name all that compiled code depends on: the image's versions, its compiler, the CPU, our dummies, the card."""
    parts = [interpreter.python, interpreter.torch, interpreter.numpy, interpreter.inside, _cpu()]
    for program in ("g++", "as", "ld"):
        found = shutil.which(program, path="/usr/bin:/bin")
        real = Path(found).resolve() if found else Path()
        parts.append(f"{real}:{real.stat().st_size}:{real.stat().st_mtime_ns}" if found else "none")
    dummies = Path(__file__).parent.parent / "harness" / "warm" / "preloading.py"
    parts.append(hashlib.sha256(dummies.read_bytes()).hexdigest())
    parts += [card] if card else []
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


def _cpu() -> list[str]:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    seen: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() in {"model name", "flags", "Features"}:
            seen.setdefault(name.strip(), value.strip())
    return [seen[name] for name in sorted(seen)]
