"""Records what the course's examples give on the runner at hand, into `content/measurements/<machine>.json`.

Law: a record holds only what a runner answered, with the digest of the code it was made of; what did not end well is
recorded with its ending and no figures. What other code gave before is kept until it is recorded anew.
"""

import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from bot import rehearsal
from bot.engine.known import Dice
from bot.errors import BotError
from bot.ports import Runner
from content import recorded
from content.schema import Course, Example, Lesson, RecordedMachine, RecordedRatio, RecordedRun, RecordedVariant
from sandbox_runner.protocol import Budget, Capabilities, Device, Ending, JobKind, Result

_MOST_SAID, _MOST_FLAGS = 2000, 16


Wanted = Callable[[Lesson, Example, Device], bool]
"""Says, when its turn has come, whether an example is to be run on a device."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One example that was run: where, on which device, how it ended, and its record."""

    where: str
    device: Device
    ending: Ending
    run: RecordedRun


async def record(  # noqa: PLR0913 - what to run, on what, and how
    course: Course,
    runner: Runner,
    dice: Dice,
    lessons: Sequence[str] = (),
    *,
    wanted: Wanted = lambda _lesson, _example, _device: True,
    budget: Budget = Budget.THOROUGH,
) -> AsyncIterator[Recording]:
    """Run every example that is wanted on every device that both it and the runner name; timings get the budget.

    Lessons that are named come in the order of their names; without names, all of them in the course's.

    Raises:
        RunnerError: when no runner answers.
    """
    able = await runner.capabilities()
    by_slug = {lesson.slug: lesson for lesson in course.lessons}
    for lesson in (by_slug[slug] for slug in lessons or by_slug if slug in by_slug):
        for example in lesson.examples:
            for device in (Device(name) for name in example.devices if Device(name) in able.devices):
                if not wanted(lesson, example, device):
                    continue
                job = rehearsal.example_job(course, lesson, example, dice, replace(able, devices=(device,)))
                if job.kind is JobKind.TIME:
                    job = replace(job, budget=budget)
                result = await rehearsal.finished(runner, job)
                run = _recorded(course, lesson, example, device, result)
                yield Recording(f"{lesson.slug}/{example.id}", device, result.ending, run)


def _recorded(course: Course, lesson: Lesson, example: Example, device: Device, result: Result) -> RecordedRun:
    well = result.ending is Ending.OK
    return RecordedRun(
        lesson=lesson.slug,
        example=example.id,
        device=device.value,  # type: ignore[arg-type]  # a recorded run is never of both
        code=course.digest(lesson.slug, example),
        ending=result.ending.value,
        confirmed=result.confirmed,
        checked=result.checked,
        noise=result.noise,
        variants=tuple(
            RecordedVariant(
                name=one.name,
                median_ns=one.median_ns,
                low_ns=one.ci99_ns[0],
                high_ns=one.ci99_ns[1],
                first_call_ns=one.first_call_ns,
            )
            for one in result.variants
            if well
        ),
        ratios=tuple(
            RecordedRatio(
                name=one.name,
                against=one.against,
                point=one.point,
                low=one.ci99[0],
                high=one.ci99[1],
                claim=one.claim.value,
            )
            for one in result.ratios
            if well
        ),
        flags=tuple(dict.fromkeys(flag.code for flag in result.flags))[:_MOST_FLAGS],
        said=(result.stdout.head + result.stdout.tail)[:_MOST_SAID] if well else "",
    )


def titled(able: Capabilities) -> str:
    """Name a machine as its processor and cores, or its GPU, say."""
    machine = able.machine
    return (machine.device or f"{machine.cpu}, {machine.cores} cores").strip(" ,") or "a machine"


def file_name(title: str) -> str:
    """Give the file of a machine's record.

    Raises:
        BotError: when the title holds no letter or digit that a file name may hold.
    """
    slug = "-".join(re.findall(r"[a-z0-9]+", title.lower()))[:60].strip("-")
    if not slug:
        message = f"{title!r}: a machine's title needs Latin letters or digits"
        raise BotError(message)
    return f"{slug}.json"


def write(  # noqa: PLR0913 - what a record is made of
    course: Course, folder: Path, title: str, able: Capabilities, runs: Sequence[RecordedRun], now: datetime
) -> Path:
    """Write the machine's record: these runs, and what it held of other examples as they are now."""
    machine, path = able.machine, folder / recorded.FOLDER / file_name(title)
    before = next((one for one in course.recorded if one.title == title), None)
    fresh = {(run.lesson, run.example, run.device) for run in runs}
    known = {example.id for lesson in course.lessons for example in lesson.examples}
    kept = [
        run
        for run in (before.runs if before else ())
        if (run.lesson, run.example, run.device) not in fresh and run.example in known
    ]
    whole = RecordedMachine(
        title=title,
        cpu=machine.cpu,
        cores=max(machine.cores, 1),
        gpu=machine.device,
        devices=tuple(device.value for device in able.devices if device is not Device.BOTH),  # type: ignore[misc]
        python=machine.python,
        numpy=machine.numpy,
        torch=machine.torch,
        kernel=machine.kernel,
        recorded_at=now,
        runs=tuple(sorted((*kept, *runs), key=lambda run: (run.lesson, run.example, run.device))),
    )
    path.parent.mkdir(exist_ok=True)
    fresh_file = path.with_suffix(".json.new")
    fresh_file.write_text(json.dumps(whole.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n")
    fresh_file.replace(path)
    return path
