"""Tries the warm start on a GPU host: what it saves, and that nothing passes from job to job; prints one JSON a line.

    tests/gpu/warm.py [--rounds N] [--dry-run]

A program for a host without pytest, started beside `run.sh`. Times are taken side by side in one run: the same code in
a bare cold sandbox, in a child that waits on the GPU, and in a forked child that makes its own context. `--dry-run`
tries the program on a processor, with a stand-in for the GPU. Exit status 0 when every goal was met, 1 otherwise.
"""

import argparse
import asyncio
import json
import os
import secrets
import statistics
import sys
import tempfile
import time
import traceback
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from sandbox_runner import assembly  # noqa: E402 - the checkout is not installed on such a host
from sandbox_runner.gpus import Gpu, Sight  # noqa: E402
from sandbox_runner.gpuwaiting import ours_of  # noqa: E402
from sandbox_runner.protocol import Device, Ending, Job, JobKind, Progress, Result, limits_for  # noqa: E402
from sandbox_runner.serving import Assembled  # noqa: E402
from sandbox_runner.settings import read_settings  # noqa: E402
from sandbox_runner.warm.nursery import Nursery  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from sandbox_runner.warm.parent import Parent

TRIVIAL = "import torch\nprint(int(torch.arange(10, device='{device}').sum()))\n"
UNSEEN = """
import torch
@torch.compile
def f(x):
    return (torch.sin(x) * {number} + torch.exp(-x * x)).relu() / (x.abs() + {number})
print(bool(f(torch.ones(4096, device='{device}'))[0].item() > 0))
"""
LEAVES = """
import os, sys, torch
torch.tasree_mark = sys.tasree_mark = 1
os.environ["TASREE_MARK"] = "1"
open("/tmp/tasree-mark", "w").close(); open("/dev/shm/tasree-mark", "w").close()
held = torch.full((1 << 29,), 0x5A5A5A5A, dtype=torch.int32, device='{device}')
print(int(held[-1]), os.readlink("/proc/self/ns/pid"), os.getuid(), torch.{device}.__name__)
"""
LOOKS = """
import os, sys, torch
found = [name for name in ("torch", "sys") if hasattr(sys.modules[name], "tasree_mark")]
found += [path for path in ("/tmp/tasree-mark", "/dev/shm/tasree-mark") if os.path.exists(path)]
found += ["TASREE_MARK"] if "TASREE_MARK" in os.environ else []
left = torch.empty(1 << 29, dtype=torch.int32, device='{device}')
found += ["memory"] if int((left == 0x5A5A5A5A).sum()) else []
print(found, os.readlink("/proc/self/ns/pid"), os.getuid(), torch.{device}.__name__)
"""
FRESH = """
import os, random, sys, torch
print(json_of := __import__("json").dumps({{
    "files": sorted(os.listdir("/tmp")), "argv": sys.argv, "environment": sorted(os.environ),
    "allocated": torch.cuda.memory_allocated(), "reserved": torch.cuda.memory_reserved(),
    "peak": torch.cuda.max_memory_allocated(), "random": torch.randn(2, device="{device}").tolist(),
    "counters": len(torch._dynamo.utils.counters) if "torch._dynamo" in sys.modules else 0,
    "nodes": sorted(name for name in os.listdir("/dev") if name.startswith("nvidia")),
    "descriptors": sorted({{os.readlink(e.path) for e in os.scandir("/proc/self/fd") if os.path.lexists(e.path)}}),
}}))
"""
EXAMPLES = ("compile/check_install.py", "compile/small_layers.py", "fusion/compiled.py")
"""Examples of the course that compile; what is kept of them serves who runs them next."""
FOUND = """
from torch._dynamo.utils import counters
found = counters["inductor"]
print("found", found["fxgraph_cache_hit"], "new", found["fxgraph_cache_miss"])
"""
SPOIL = """
import os  # compile
spoilt = []
for top in ("/compiled", "/tmp/torchinductor_learner"):
    for folder, _, names in os.walk(top):
        for name in names:
            try:
                with open(os.path.join(folder, name), "r+b") as entry:
                    entry.write(b"spoilt")
                spoilt.append(os.path.join(folder, name))
            except OSError:
                pass
print(len(spoilt), spoilt[:3], sum(len(names) for _, _, names in os.walk("/compiled")))
"""
GOALS = {"waiting": 100.0, "forked": 8.0, "compiled": 10.0}


class Looked:
    """Stands in for a GPU on a host without one."""

    gpu = Gpu(0, "Stand-in GPU", "1.2", 1 << 30)

    def look(self, *, at_work: bool = True) -> Sight:
        """See nothing."""
        return Sight(0, frozenset(), 0.0)

    def faults(self) -> tuple[str, ...]:
        """Hear nothing."""
        return ()


class Bench:
    """The runner under trial."""

    def __init__(self, assembled: Assembled, python: str, device: str) -> None:
        self.assembled = assembled
        self.python = python
        self.device = device
        self.wrong: list[str] = []
        self.examples: tuple[str, ...] = ()

    @property
    def nursery(self) -> Nursery:
        """The one of the first GPU."""
        return self.assembled.nurseries[1]

    async def again(self) -> float:
        """Give the ms until the GPU was given back after an answer, cleared away and seen clean."""
        began = time.perf_counter()
        while self.assembled.worker._giving:  # type: ignore[attr-defined]  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.001)
        return round((time.perf_counter() - began) * 1e3, 1)

    async def run(self, source: str, kind: JobKind = JobKind.RUN) -> tuple[float, Result]:
        """Run a job; give its seconds and its result."""
        limits = limits_for(Device.CUDA)
        job = Job(secrets.token_hex(8), kind, source.strip() + "\n", "bench", Device.CUDA, limits=limits)
        began = time.perf_counter()
        result = await self.assembled.worker.run_job(job, 0, _silent)
        return time.perf_counter() - began, result

    async def waits(self, seconds: float = 30.0) -> bool:
        """Wait until a child stands ready and nothing else goes on; say whether one does."""
        end = time.monotonic() + seconds
        while not self.nursery.waiting() and time.monotonic() < end:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.3)
        return bool(self.nursery.waiting())

    async def cold(self, source: str) -> float:
        """Run a source as a whole process in a bare sandbox."""
        words = ["bwrap", "--unshare-all", "--die-with-parent", "--clearenv", "--setenv", "HOME", "/tmp"]  # noqa: S108
        for name, value in (("USER", "learner"), ("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")):
            words += ["--setenv", name, value]
        for folder in ("/usr", "/opt", "/etc", "/sys", "/work", "/root"):
            words += ["--ro-bind-try", folder, folder]
        for name in ("lib", "lib64", "bin", "sbin"):
            words += ["--symlink", f"usr/{name}", f"/{name}"]
        words += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--chdir", "/tmp"]  # noqa: S108 - inside
        for name in (f"nvidia{self.nursery.name.rpartition('gpu')[2]}", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools"):
            words += ["--dev-bind-try", f"/dev/{name}", f"/dev/{name}"]
        began = time.perf_counter()
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*words, self.python, "-c", source, stdout=pipe, stderr=pipe)
        _, err = await process.communicate()
        if process.returncode:
            message = f"a cold run ended with {process.returncode}: {err.decode(errors='replace')[-500:]}"
            raise RuntimeError(message)
        return time.perf_counter() - began

    def check(self, name: str, *, good: bool, **told: object) -> None:
        """Say how one thing went."""
        if not good:
            self.wrong.append(name)
        say(part=name, good=good, **told)


def say(**line: object) -> None:
    """Print one line."""
    print(json.dumps(line, ensure_ascii=False, default=str), flush=True)


def _silent(_: Progress) -> None:
    """Nobody follows."""


def short(result: Result) -> dict[str, Any]:
    """The part of a result that an operator reads."""
    return {
        "ending": result.ending.value,
        "start": result.start,
        "stdout": result.stdout.head[-900:],
        "stderr": result.stderr.head[-900:],
        "notes": [asdict(note) for note in result.notes],
        "phases_ms": result.phases_ms,
    }


def spent(times: list[float], told: list[dict[str, Any]], again: list[float]) -> dict[str, float]:
    """Say where the time of the median run went, in ms: its phases in turn, what lies between them, then afterwards."""
    names = list(dict.fromkeys(name for one in told for name in one["phases_ms"]))
    parts = {name: statistics.median(one["phases_ms"].get(name, 0.0) for one in told) for name in names}
    rests = [took * 1e3 - sum(one["phases_ms"].values()) for took, one in zip(times, told, strict=True)]
    parts |= {"between": statistics.median(rests), "given_back_after": statistics.median(again)}
    return {name: round(value, 2) for name, value in parts.items()}


async def _unproven(_: "Parent") -> str:
    """Let a parent serve this program though a wall was passed, which was said."""
    return ""


async def parents(bench: Bench) -> None:
    """Start the parents: the processor's, then the GPU's, with less of the compiler loaded where that is refused.

    The walls are proven before, as a runner that serves does: what stands for a cold start must stand for these.
    """
    walls = await bench.assembled.probe()
    say(part="walls", missing={wall.name: wall.detail for wall in walls if not wall.stands})
    for nursery in bench.assembled.nurseries:
        for number in range(4 if nursery is bench.nursery else 1):
            began = time.monotonic()
            stands = await nursery.renew()
            if "can be" in nursery.wall().detail or "not proven" in nursery.wall().detail:
                bench.wrong.append(f"{nursery.name} not proven")
                nursery._prove = _unproven  # what else is to be seen here is worth seeing
            told = {"try": number, "detail": nursery.wall().detail, "seconds": round(time.monotonic() - began, 1)}
            parent = nursery._parent
            ready = {} if parent is None else {key: value for key, value in parent.ready.items() if key != "kind"}
            child = nursery.children()[0].lines.ready if nursery.children() else {}
            say(part="parent", name=nursery.name, stands=stands, ready=ready, child=child, **told)
            if stands:
                break
        if not stands:
            bench.wrong.append(nursery.name)


async def starts(bench: Bench, rounds: int) -> None:
    """Time a trivial snippet: cold, in a child that waits, in one that is forked."""
    source = TRIVIAL.format(device=bench.device)
    colds = [await bench.cold(source) for _ in range(max(2, rounds // 2))]
    await bench.waits()
    await bench.run(source)  # the first of all wakes what sleeps: threads that look, files that are read once
    waiting, results, backs = [], [], []
    for _ in range(rounds):
        await bench.waits()
        took, result = await bench.run(source)
        backs.append(await bench.again())
        waiting.append(took)
        results.append(short(result))
    rules, bench.nursery._rules = bench.nursery._rules, replace(bench.nursery._rules, waiting=0)
    await bench.waits(3.0)
    await bench.nursery.dismiss()
    forked, others, more = [], [], []
    for _ in range(rounds):
        took, result = await bench.run(source)
        more.append(await bench.again())
        forked.append(took)
        others.append(short(result))
    bench.nursery._rules = rules
    bench.nursery._refill.set()
    cold = statistics.median(colds)
    for name, times, told, again in (("waiting", waiting, results, backs), ("forked", forked, others, more)):
        ratio = cold / statistics.median(times)
        right = all(one["ending"] == "ok" and one["start"] == "warm" and one["stdout"] == "45\n" for one in told)
        bench.check(
            name, good=right and ratio >= GOALS[name], cold_over=round(ratio, 1), right=right,
            ms=[round(took * 1e3, 1) for took in times], cold_ms=[round(took * 1e3) for took in colds],
            spent_ms=spent(times, told, again), last=told[-1],
        )  # fmt: skip


async def compiled(bench: Bench, rounds: int) -> None:
    """Time code that compiles and was never seen."""

    def one() -> str:
        return UNSEEN.format(number=secrets.randbelow(10**9), device=bench.device)

    cold = await bench.cold(one())
    times, last = [], {}
    for _ in range(rounds):
        await bench.waits()
        took, result = await bench.run(one())
        times.append(took)
        last = short(result)
    ratio = cold / statistics.median(times)
    good = last["ending"] == "ok" and ratio >= GOALS["compiled"]
    ms = [round(took * 1e3, 1) for took in times]
    bench.check("compiled", good=good, cold_over=round(ratio, 1), ms=ms, cold_ms=round(cold * 1e3), last=last)


def _files(folder: str) -> list[Path]:
    return [path for path in Path(folder).rglob("*") if path.is_file()] if folder else []


async def prepared(bench: Bench) -> None:
    """Have examples of the course compiled for this card as a runner at rest does, and time one that was."""
    nursery, began = bench.nursery, time.monotonic()
    improve = nursery._improve
    better = await improve() if improve is not None else False
    told: dict[str, object] = {"better": better, "seconds": round(time.monotonic() - began, 1)}
    began = time.monotonic()
    stands = await nursery.renew()
    nest = nursery._make()
    files = _files(nest.compiled)
    told |= {"renewed_s": round(time.monotonic() - began, 1), "files": len(files), "card": nest.card}
    told |= {"bytes": sum(path.stat().st_size for path in files), "detail": nursery.wall().detail}
    facts = [json.loads(path.read_text(encoding="ascii")) for path in files if path.name == "facts.json"]
    bench.check("preparing", good=better and stands and len(files) > 1, facts=facts, **told)
    for name in bench.examples:
        source = (ROOT / "content" / "lessons" / name).read_text(encoding="utf-8")
        kind = JobKind.TIME if "# %%" in source else JobKind.RUN
        cold = await bench.cold(source)
        await bench.waits()
        took, result = await bench.run(source, kind)
        await bench.waits()
        _, again = await bench.run(source + FOUND) if kind is JobKind.RUN else (0.0, result)
        good = result.ending is Ending.OK and (kind is JobKind.TIME or again.stdout.head.endswith("new 0\n"))
        ms = {"ms": round(took * 1e3), "cold_ms": round(cold * 1e3), "cold_over": round(cold / took, 1)}
        bench.check("prepared", good=good, example=name, result=short(result), found=again.stdout.head[-60:], **ms)
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files if path.exists()}
    await bench.waits()
    _, result = await bench.run(SPOIL)
    same = all(path.exists() and (path.stat().st_mtime_ns, path.read_bytes()) == was for path, was in before.items())
    bench.check("unspoilt", good=same and result.stdout.head.startswith("0 "), result=short(result))


async def passing(bench: Bench) -> None:
    """See whether anything of a job is left for the next, and that each has a child of its own."""
    seen: set[int] = set()
    for source in (LEAVES, LOOKS, LOOKS):
        await bench.waits()
        ready = bench.nursery.waiting()
        source = source if bench.device == "cuda" else source.replace("1 << 29", "1 << 20")  # noqa: PLW2901
        _, result = await bench.run(source.format(device=bench.device))
        words = result.stdout.head.split()
        seen.update(ready)
        good = result.ending is Ending.OK and ("tasree_mark = sys" in source or words[0] == "[]")
        bench.check("passing", good=good, waited=ready, result=short(result))
    bench.check("one_use", good=len(seen) == 3, waited=sorted(seen))


async def looks(bench: Bench) -> None:
    """See that a child that waited looks like a process that just began, and reaches nobody."""
    await bench.waits()
    ours = ours_of(bench.nursery)
    say(part="ours", holders=sorted(ours.holders), bytes=ours.used_bytes)
    _, result = await bench.run(FRESH.format(device=bench.device))
    bench.check("fresh", good=result.ending is Ending.OK, result=short(result))
    await bench.waits()
    attempt = (ROOT / "sandbox_runner" / "warm" / "attempt.py").read_text(encoding="utf-8")
    facts = json.dumps({"parent": bench.nursery.pids()[0], "mark": secrets.token_hex(8)})
    _, result = await bench.run(attempt.replace('"@FACTS@"', repr(facts)))
    said = json.loads(result.stdout.head or "{}")
    passed = {name: why for name, why in said.items() if why and name != "chance" and "nvidia" not in str(why)}
    bench.check("reach", good=result.ending is Ending.OK and not passed, passed=passed, said=said, result=short(result))


async def kinds(bench: Bench) -> None:
    """Time, and look into, variants on the GPU from a child that waits."""
    setup = f"import torch\nx = torch.ones(512, 512, device='{bench.device}')\n"
    source = f"{setup}# %% one\nx @ x\n# %% two\n(x @ x) @ x\n"
    for kind in (JobKind.TIME, JobKind.INSPECT):
        await bench.waits()
        took, result = await bench.run(source, kind)
        told = {variant.name: variant.median_ns for variant in result.variants}
        good = result.ending is Ending.OK and result.start == "warm"
        bench.check(kind.value, good=good, seconds=round(took, 2), median_ns=told, result=short(result))


async def main(call: argparse.Namespace) -> int:
    """Try everything, each part though another failed."""
    examples = Path(tempfile.mkdtemp(prefix="tasree-examples-"))
    for name in (named := EXAMPLES[:: 2 if call.dry_run else 1]):
        (examples / Path(name).name).write_bytes((ROOT / "content" / "lessons" / name).read_bytes())
    lock = Path(f"/tmp/tasree-warm-{os.getpid()}")  # noqa: S108 - ours alone
    settings = replace(read_settings(), lock=lock, examples=examples)
    device = "cuda"
    if call.dry_run:
        device = "cpu"
        vars(assembly).update(find_gpus=lambda: (0,), open_watch=lambda *_: Looked())
    bench = Bench(await assembly.assemble(settings, 2), settings.python, device)
    bench.examples = named
    keeping: list[asyncio.Task[None]] = []
    began = time.monotonic()
    parts: tuple[tuple[str, Callable[[], Awaitable[None]]], ...] = (
        ("starts", lambda: starts(bench, call.rounds)),
        ("compiled", lambda: compiled(bench, max(2, call.rounds // 2))),
        ("prepared", lambda: prepared(bench)),
        ("passing", lambda: passing(bench)),
        ("looks", lambda: looks(bench)),
        ("kinds", lambda: kinds(bench)),
    )
    try:
        await parents(bench)
        keeping += [asyncio.create_task(one.keep(lambda _: None, lambda: False)) for one in bench.assembled.nurseries]
        for name, part in parts:
            try:
                await part()
            except Exception:  # noqa: BLE001 - a fault of one part must not hide what the others show
                bench.check(name, good=False, fault=traceback.format_exc()[-1500:])
            say(part="time", after=name, seconds=round(time.monotonic() - began, 1))
    finally:
        for one in keeping:
            one.cancel()
        await asyncio.gather(*keeping, return_exceptions=True)
        await bench.assembled.close()
    say(part="summary", wrong=bench.wrong)
    return 1 if bench.wrong else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dry-run", action="store_true", help="on the processor, with a stand-in for the GPU")
    sys.exit(asyncio.run(main(parser.parse_args())))
