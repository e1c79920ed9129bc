"""Records the course on this GPU host: every example on every device it names, over all GPUs at once, in a given time.

    tests/gpu/record.py [--seconds N] [--title TITLE] [--budget B] [--devices cpu,cuda] [--out FILE] [LESSON]...

A program for a GPU host, started by `all.sh`; needs what `carry.sh` carries. Each GPU has a lane with cores of its own,
and so have some examples for the processor; those for several GPUs come last, with the host to themselves. What is
recorded already of the same code is left out. Prints one JSON a line, and writes `content/measurements/`.
Law: a lane is a runner of its own, behind walls; what was not reached in time is said, and recorded the next time.
"""

import argparse
import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bot import recording  # noqa: E402 - the checkout is not installed on such a host
from bot.app import SystemDice  # noqa: E402
from content import loader, recorded  # noqa: E402
from content.schema import Course, Example, Lesson, RecordedMachine, RecordedRun  # noqa: E402
from sandbox_runner.client import EmbeddedRunner  # noqa: E402
from sandbox_runner.codec import decode, encode  # noqa: E402
from sandbox_runner.gpus import find_gpus  # noqa: E402
from sandbox_runner.protocol import Budget, Capabilities, Device  # noqa: E402

LAST_S = 60.0
"""So long before the end the examples for several GPUs begin."""
_LANE_CORES, _MOST_CPU_LANES = 6, 4
_UIDS_A_LANE = 16


def main() -> int:
    """Record, as the whole or as one lane of it."""
    call = _call()
    if call.lane:
        asyncio.run(_lane(call))
        return 0
    return _whole(call)


def _whole(call: argparse.Namespace) -> int:
    ends = time.time() + call.seconds
    gpus, cores = _gpus(), sorted(os.sched_getaffinity(0))
    several = len(gpus) > 1 and "cuda" in call.devices
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "claims").mkdir()
        lanes = _lanes(gpus if "cuda" in call.devices else (), cores, "cpu" in call.devices)
        soon = ends - (LAST_S if several else 0.0)
        files = []
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        try:
            for number, lane in enumerate(lanes):
                files.append(_started(call, folder, number, *lane, ends=soon))
            for process, _ in files:
                process.wait()
            if several:
                files.append(_started(call, folder, len(lanes), gpus, cores, ends=ends))
                files[-1][0].wait()
        finally:  # what was recorded until it was ended counts
            for process, _ in files:
                process.terminate()
            joined = _joined(call, [path for _, path in files], len(gpus))
        return joined


def _gpus() -> tuple[int, ...]:
    """Give the GPUs of this host that may be used."""
    chosen = os.environ.get("TASREE_RUNNER_GPUS", "")
    return tuple(int(name) for name in chosen.split(",")) if chosen else find_gpus()


def _lanes(gpus: tuple[int, ...], cores: list[int], on_cpu: bool) -> list[tuple[tuple[int, ...], list[int]]]:  # noqa: FBT001
    """Give each lane its GPUs and cores: one a GPU, and as many for the processor as the cores then allow."""
    free = max(len(cores) // _LANE_CORES - len(gpus), 0 if gpus else 1)
    wanted: list[tuple[int, ...]] = [(gpu,) for gpu in gpus] + [()] * (min(free, _MOST_CPU_LANES) if on_cpu else 0)
    each = max(min(len(cores) // max(len(wanted), 1), _LANE_CORES), 1)
    return [(lane, cores[i * each : (i + 1) * each] or cores) for i, lane in enumerate(wanted)]


def _started(  # noqa: PLR0913 - what a lane is made of
    call: argparse.Namespace, folder: str, number: int, gpus: tuple[int, ...], cores: list[int], *, ends: float
) -> tuple["subprocess.Popen[bytes]", Path]:
    out = Path(folder) / f"lane{number}.jsonl"
    words = ["--lane", str(out), "--claims", f"{folder}/claims", "--ends", str(ends), "--budget", call.budget]
    words += ["--several"] if len(_gpus()) > 1 else []
    words += ["--title", call.title, "--cores", ",".join(map(str, cores)), "--gpus", ",".join(map(str, gpus))]
    base = int(os.environ.get("TASREE_RUNNER_BASE_UID", "0")) or 300_000
    environ = os.environ | {
        "TASREE_RUNNER_BASE_UID": str(base + number * _UIDS_A_LANE),
        "TASREE_RUNNER_LOCK": f"{folder}/lock{number}",
        "TASREE_RUNNER_GPUS": ",".join(map(str, gpus)) or "none",
        "TASREE_RUNNER_SLOTS": "1",
    }
    command = [sys.executable, str(Path(__file__).resolve()), *words, *call.lessons]
    return subprocess.Popen(command, env=environ, cwd=ROOT), out


async def _lane(call: argparse.Namespace) -> None:
    """Run what no other lane has claimed until the time is up; a line for the runner, then one a run."""
    os.sched_setaffinity(0, {int(core) for core in call.cores.split(",")})
    gpus = len([name for name in call.gpus.split(",") if name])
    course, dice = loader.load_course(), SystemDice()
    before = _before(course, call.title)
    with Path(call.lane).open("w", encoding="utf-8") as out:  # noqa: ASYNC230 - a line now and then, and nobody waits
        try:
            runner = EmbeddedRunner(os.environ)
            client = await runner.start()
        except Exception as fault:  # noqa: BLE001 - said, and the other lanes go on
            _say(out, lane=gpus, fault=f"{type(fault).__name__}: {fault}", trace=traceback.format_exc()[-2000:])
            return
        try:
            able = await client.capabilities()
            _say(out, able=encode(replace(able, walls=())))
            if gpus and Device.CUDA not in able.devices:
                _say(
                    out, lane=gpus, fault=f"no GPU here: {[wall.detail for wall in able.walls if 'cuda' in wall.name]}"
                )
                return
            wanted = _wanted(call, gpus, before, course)
            began = time.perf_counter()
            async for one in recording.record(course, client, dice, call.lessons, wanted=wanted, budget=call.budget):
                took, began = round(time.perf_counter() - began, 1), time.perf_counter()
                _say(out, where=one.where, device=one.device.value, ending=one.ending.value, took_s=took,
                     run=one.run.model_dump(mode="json"))  # fmt: skip
        except Exception as fault:  # noqa: BLE001 - what was recorded until then counts
            _say(out, lane=gpus, fault=f"{type(fault).__name__}: {fault}", trace=traceback.format_exc()[-2000:])
        finally:
            await runner.close()


def _wanted(
    call: argparse.Namespace, gpus: int, before: dict[tuple[str, str, str], str], course: Course
) -> recording.Wanted:
    """Say what this lane takes: its device, as many GPUs as it has, not recorded yet, claimed by no other, in time."""

    def wanted(lesson: Lesson, example: Example, device: Device) -> bool:
        several = example.gpus != 1 and device is Device.CUDA and call.several
        mine = (device is Device.CUDA) == (gpus > 0) and several == (gpus > 1)
        known = before.get((lesson.slug, example.id, device.value)) == course.digest(lesson.slug, example)
        elsewhere = device is Device.CUDA and example.gpus != "all" and gpus < example.gpus <= len(find_gpus())
        if not mine or known or elsewhere or time.time() > float(call.ends):
            return False
        try:
            (Path(call.claims) / f"{lesson.slug}.{example.id}.{device.value}").mkdir()
        except FileExistsError:
            return False
        return True

    return wanted


def _before(course: Course, title: str) -> dict[tuple[str, str, str], str]:
    machine = _machine(course, title)
    runs = machine.runs if machine else ()
    return {(run.lesson, run.example, run.device): run.code for run in runs if run.ending == "ok"}


def _machine(course: Course, title: str) -> RecordedMachine | None:
    return next((machine for machine in course.recorded if machine.title == title), None)


def _joined(call: argparse.Namespace, files: list[Path], gpus: int) -> int:
    """Put the lanes' runs into one record, and say what is still missing."""
    able: Capabilities | None = None
    runs: list[RecordedRun] = []
    devices: set[Device] = set()
    faults = 0
    for line in _lines(files):
        print(json.dumps(line, ensure_ascii=False), flush=True)
        faults += "fault" in line
        if "able" in line:
            one = decode(Capabilities, line["able"])
            able = one if able is None or one.machine.device else able
        if "run" in line:
            runs.append(RecordedRun.model_validate_json(json.dumps(line["run"])))
            devices.add(Device(line["device"]))
    if able is None or not runs:
        print(json.dumps({"summary": "nothing was recorded", "faults": faults}), flush=True)
        return 1
    course = loader.load_course()
    before = _machine(course, call.title)
    devices |= {Device(name) for name in before.devices} if before else set()
    whole = replace(able, devices=tuple(sorted(devices)), device_count=gpus)
    path = recording.write(course, Path(loader.__file__).parent, call.title, whole, runs, datetime.now(UTC))
    if call.out:
        Path(call.out).write_bytes(path.read_bytes())
    left = [each for each in recorded.wanting(loader.load_course()) if each.startswith(f"{call.title}:")]
    endings: dict[str, int] = {}
    for run in runs:
        endings[run.ending] = endings.get(run.ending, 0) + 1
    print(json.dumps({"summary": endings, "confirmed": sum(run.confirmed for run in runs), "faults": faults,
                      "left": len(left), "first_left": left[:5], "file": path.name}), flush=True)  # fmt: skip
    return 0 if not faults else 1


def _lines(files: list[Path]) -> Iterator[dict[str, Any]]:
    for path in files:
        with contextlib.suppress(OSError):
            yield from (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


def _say(out: Any, **line: object) -> None:  # noqa: ANN401 - a text file
    out.write(json.dumps(line, ensure_ascii=False) + "\n")
    out.flush()
    if "run" in line or "fault" in line:
        shown = {key: value for key, value in line.items() if key not in {"run", "trace"}}
        print(json.dumps(shown, ensure_ascii=False), file=sys.stderr, flush=True)


def _call() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("lessons", metavar="LESSON", nargs="*", help="only these")
    parser.add_argument("--seconds", type=float, default=600.0, help="begin nothing more after so long")
    parser.add_argument("--title", default="NVIDIA H200", help="how lessons name this machine")
    parser.add_argument("--budget", type=Budget, default=Budget.THOROUGH, help="of each timing")
    parser.add_argument("--devices", default="cuda,cpu", help="which, with commas between")
    parser.add_argument("--out", help="where to copy the record")
    parser.add_argument("--several", action="store_true", help=argparse.SUPPRESS)
    for name in ("--lane", "--claims", "--ends", "--cores", "--gpus"):
        parser.add_argument(name, default="", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
