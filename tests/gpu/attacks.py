"""Tries the walls on a GPU host: the probe with CUDA, then every case of cases.toml; prints one JSON object a line.

A program for a host without pytest: `run.sh` starts it. `--dry-run` runs the cases' stand-ins on the processor, to see
that the program itself works. Exit status 0 when everything was as it should be, 1 otherwise. Bounded: a case takes at
most 60 s, all of them 6 minutes; what was not reached is said.
"""

import argparse
import asyncio
import contextlib
import json
import os
import platform
import re
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from sandbox_runner.assembly import assemble  # noqa: E402 - the checkout is not installed on such a host
from sandbox_runner.codec import encode  # noqa: E402
from sandbox_runner.gpus import Sight, Watch, find_gpus, open_watch  # noqa: E402
from sandbox_runner.gpuwaiting import ours_of  # noqa: E402
from sandbox_runner.gpuwork import GpuWorker  # noqa: E402
from sandbox_runner.lending import Ours  # noqa: E402
from sandbox_runner.protocol import Device, Ending, Job, JobKind, Progress, Result, limits_for  # noqa: E402
from sandbox_runner.sandbox.cgroup import NoCgroupError, find_cgroups  # noqa: E402
from sandbox_runner.sandbox.watchdog import tree  # noqa: E402
from sandbox_runner.serving import Assembled, proven  # noqa: E402
from sandbox_runner.settings import read_settings  # noqa: E402

CASE_S, ALL_S = 60.0, 360.0
NEXT = "import torch\nprint(int(torch.arange(10, device='cuda').sum()))"
STAND_IN = "print('stand-in')"
SETTLED_S = 5.0
SLOTS = 32
SLACK_BYTES = 64 << 20


@dataclass(slots=True)
class Host:
    """The runner under trial, and the GPU as it was before."""

    assembled: Assembled
    dry: bool
    base_uid: int
    watch: Watch | None
    before: Sight | None
    ends: float

    @property
    def ours(self) -> Ours:
        """What waits on the first GPU by the runner's own will."""
        on_gpu = [nursery for nursery in self.assembled.nurseries[1:2] if nursery.pids()]
        return ours_of(on_gpu[0]) if on_gpu else Ours()

    @property
    def settled(self) -> set[int]:
        """The processes that are no job's: warm parents and children that wait."""
        parents = [one for each in self.assembled.nurseries for one in (each._parent, each._coming, *each._retired)]
        roots = [parent.launcher for parent in parents if parent is not None]
        roots += [child.lines.pid for nursery in self.assembled.nurseries for child in nursery.children()]
        return {pid for root in roots for pid in tree(root)}

    async def run(self, name: str, source: str, case: dict[str, Any]) -> Result:
        """Run one job, within a case's time."""
        device = Device.CPU if self.dry else Device(case.get("device", "cuda"))
        limits = replace(limits_for(device), **case.get("limits", {}))
        job = Job(name, JobKind(case.get("job", "run")), source.strip() + "\n", "learner", device, limits=limits)
        running = asyncio.create_task(self.assembled.worker.run_job(job, 0, _silent))
        patience = case.get("cancel_s", min(CASE_S, max(self.ends - time.monotonic(), 1.0)))
        if self.dry:
            patience = min(patience, 3.0) if "cancel_s" in case else patience
        done, _ = await asyncio.wait({running}, timeout=patience)
        if not done:
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                return await running
            return Result(name, job.kind, Ending.CANCELLED, device)
        return running.result()

    def faults_of_the_gpu(self) -> list[str]:
        """Say what is left on the GPU, once it had a moment to settle."""
        if self.watch is None or self.before is None:
            return []
        deadline = time.monotonic() + SETTLED_S
        while True:
            found = list(_left(self.before, self.watch.look(), self.ours))
            if not found or time.monotonic() > deadline:
                return found
            time.sleep(0.1)


def _silent(_: Progress) -> None:
    """Nobody follows."""


def _left(before: Sight, now: Sight, ours: Ours) -> Iterator[str]:
    if more := now.holders - before.holders - ours.holders:
        yield f"held by {sorted(more)}"
    weighed = ours.used_bytes is not None  # a child that is being made holds nobody knows yet how much
    if weighed and now.used_bytes is not None and before.used_bytes is not None:
        over = now.used_bytes - before.used_bytes - (ours.used_bytes or 0)
        if over > SLACK_BYTES:
            yield f"{over >> 20} MiB are still in use"


def _uid_of(pid: int) -> int:
    with contextlib.suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/status").read_text().partition("\nUid:")[2].split()[0])
    return -1


def _survivors(base_uid: int, settled: set[int]) -> list[str]:
    there = {int(folder.name): _uid_of(int(folder.name)) for folder in Path("/proc").glob("[0-9]*")}
    ours = {pid: uid for pid, uid in there.items() if base_uid <= uid < base_uid + SLOTS and pid not in settled}
    return [f"process {pid} of uid {uid}" for pid, uid in sorted(ours.items())]


async def _try(host: Host, case: dict[str, Any]) -> dict[str, Any]:
    """Carry out one case; give what came of it and what was wrong, if anything was."""
    began = time.monotonic()
    clocks = host.watch.look().sm_mhz if host.watch is not None and case.get("clocks") else None
    wrong: list[str] = []
    if "before" in case:
        first = await host.run(f"{case['id']}-before", STAND_IN if host.dry else case["before"], case)
        if first.ending is not Ending.OK:
            wrong.append(f"the job before ended as {first.ending.value}: {first.stderr.head[-300:]}")
    on_cpu = case.get("device") == "cpu"
    source = case.get("cpu", case["code"] if on_cpu else STAND_IN) if host.dry else case["code"]
    result = await host.run(case["id"], source, case)
    wrong += _wrong(case, result, dry=host.dry, stands_in=host.dry and "cpu" not in case and not on_cpu)
    if isinstance(host.assembled.worker, GpuWorker):
        await host.assembled.worker.settle()  # an answer may come before the driver has cleared its job away
    wrong += host.faults_of_the_gpu() + [f"left: {one}" for one in _survivors(host.base_uid, host.settled)]
    if case.get("next"):
        after = await host.run(f"{case['id']}-next", "print(45)" if host.dry else NEXT, {})
        if (after.ending, after.stdout.head) != (Ending.OK, "45\n"):
            wrong.append(f"the next job ended as {after.ending.value}: {[asdict(note) for note in after.notes]}")
    told: dict[str, Any] = {
        "case": case["id"],
        "title": case["title"],
        "right": not wrong,
        "wrong": wrong,
        "seconds": round(time.monotonic() - began, 1),
        "result": _short(result),
    }
    if case.get("clocks") and host.watch is not None:
        told["sm_mhz"] = [clocks, host.watch.look().sm_mhz]
    return told


def _wrong(case: dict[str, Any], result: Result, *, dry: bool, stands_in: bool) -> list[str]:
    endings = case.get("cpu_endings", case["endings"]) if dry else case["endings"]
    if stands_in:
        endings = ["ok"]
    wrong = []
    if result.ending.value not in endings:
        wrong.append(f"ended as {result.ending.value}, not {' or '.join(endings)}")
    said = result.stdout.head + result.stdout.tail
    if not stands_in and "said" in case and not re.search(case["said"], said):
        wrong.append(f"did not say {case['said']!r}")
    notes = {note.code for note in result.notes}
    if not stands_in and (missing := set(case.get("notes", ())) - notes):
        wrong.append(f"lacks the notes {sorted(missing)}")
    least = 0 if dry else case.get("least_ns", 0)
    if any(variant.median_ns < least for variant in result.variants):
        wrong.append(f"took less than {least} ns")
    return wrong


def _short(result: Result) -> dict[str, Any]:
    """The part of a result that an operator reads."""
    return {
        "ending": result.ending.value,
        "start": result.start,
        "reached": asdict(result.reached) if result.reached else None,
        "fault": asdict(result.fault) if result.fault else None,
        "stdout": (result.stdout.head + result.stdout.tail)[-600:],
        "stderr": (result.stderr.head + result.stderr.tail)[-600:],
        "notes": [asdict(note) for note in result.notes],
        "flags": [asdict(flag) for flag in result.flags],
        "median_ns": {variant.name: variant.median_ns for variant in result.variants},
        "phases_ms": result.phases_ms,
        "device": result.machine.device,
    }


def _say(**line: object) -> None:
    print(json.dumps(line, ensure_ascii=False, default=sorted), flush=True)  # sets of processes


def _host_line(watch: Watch | None, before: Sight | None) -> dict[str, Any]:
    try:
        groups: object = f"version {find_cgroups().version}"
    except NoCgroupError as why:
        groups = f"none: {why}"
    return {
        "kernel": platform.release(),
        "cores": len(os.sched_getaffinity(0)),
        "uid": os.geteuid(),
        "nodes": sorted(node.name for node in Path("/dev").glob("nvidia*")),
        "gpu": asdict(watch.gpu) if watch else None,
        "idle": None if before is None else asdict(before),
        "control_groups": groups,
    }


async def _main(call: argparse.Namespace) -> int:
    began = time.monotonic()
    cases: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("cases.toml").read_text("utf-8"))["case"]
    if call.only:
        cases = [case for case in cases if case["id"] in call.only]
    numbers = read_settings().gpus or find_gpus()
    settings = read_settings()
    first = settings.base_uid
    of_a_slot = lambda pid: first <= _uid_of(pid) < first + SLOTS  # noqa: E731 - one expression
    watch = open_watch(numbers[0], of_a_slot) if numbers and not call.dry_run else None
    before = watch.look() if watch else None
    _say(kind="host", dry_run=call.dry_run, **_host_line(watch, before))
    if watch is None and not call.dry_run:
        _say(kind="summary", right=False, why="no NVIDIA GPU on this host; --dry-run tries this program without one")
        return 1
    assembled = await assemble(settings, 2)
    host = Host(assembled, call.dry_run, settings.base_uid, watch, before, began + ALL_S)
    counts: Counter[str] = Counter()
    failed: list[str] = []
    keeping: list[asyncio.Task[None]] = []
    try:
        failed += await _probed(assembled, dry=call.dry_run)
        if call.warm:
            failed += await _warmed(assembled, keeping)
        for case in cases:
            if time.monotonic() > host.ends:
                counts["not reached"] += 1
                _say(kind="case", case=case["id"], right=None, why="the time for all cases was up")
                continue
            told = await _tried(host, case)
            counts["right" if told["right"] else "wrong"] += 1
            failed += [] if told["right"] else [case["id"]]
            _say(kind="case", **told)
    finally:
        for one in keeping:
            one.cancel()
        await asyncio.gather(*keeping, return_exceptions=True)
        await assembled.close()
    left = host.faults_of_the_gpu() + _survivors(host.base_uid, set())
    right = not failed and not left and not counts["not reached"]
    seconds = round(time.monotonic() - began, 1)
    _say(kind="summary", dry_run=call.dry_run, right=right, counts=counts, failed=failed, left=left, seconds=seconds)
    return 0 if right else 1


async def _tried(host: Host, case: dict[str, Any]) -> dict[str, Any]:
    try:
        return await _try(host, case)
    except Exception as fault:  # noqa: BLE001 - a fault of one case must not hide what the others show
        return {
            "case": case["id"],
            "title": case["title"],
            "right": False,
            "wrong": [f"{type(fault).__name__}: {fault}"],
        }


async def _probed(assembled: Assembled, *, dry: bool) -> list[str]:
    """Try every wall; name those that matter and are missing, and CUDA where it must be proven."""
    began = time.monotonic()
    found = proven(assembled.capabilities, await assembled.probe())
    _say(kind="probe", seconds=round(time.monotonic() - began, 1), capabilities=encode(found))
    missing = [wall.name for wall in found.walls if wall.matters and not wall.stands]
    return missing + ([] if dry or Device.CUDA in found.devices else ["cuda"])


async def _warmed(assembled: Assembled, keeping: list["asyncio.Task[None]"]) -> list[str]:
    """Start the warm parents and keep them; name those that cannot be had."""
    missing = []
    for nursery in assembled.nurseries:
        began = time.monotonic()
        stands = await nursery.renew() or await nursery.renew()
        _say(kind="warm", wall=asdict(nursery.wall()), seconds=round(time.monotonic() - began, 1))
        if not stands:
            missing.append(nursery.name)
            continue  # one that is tried again beside the cases has processes that look like theirs
        keeping.append(asyncio.create_task(nursery.keep(lambda _: None, lambda: False)))
    return missing


def _call() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--dry-run", action="store_true", help="run the stand-ins on the processor")
    parser.add_argument("--warm", action="store_true", help="through children of warm parents, as a served runner does")
    parser.add_argument("--only", action="append", default=[], metavar="ID", help="only the case of this id")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(asyncio.run(_main(_call())))
