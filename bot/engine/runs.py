"""Runs started, followed, cancelled and told to their end; what the end means is worded in `results.py`.

Law: a run that is not among the session's own is stale and changes nothing; a run's end touches neither place nor
series, but for one that answers the open question. At most `MOST_RUNNING` runs of a learner are under way.
"""

from dataclasses import replace

from bot.engine import asks, grading, insights, presses, results, searching, seen, sides, tasks, writing
from bot.engine.bubbles import buttons, said
from bot.engine.buttons import INSPECT, KERNEL, Op, encode
from bot.engine.commands import Command
from bot.engine.effects import CancelRun, Edit, Effect, RunCode, Say, Turn
from bot.engine.events import RunFinished, RunProgressed
from bot.engine.figures import plain
from bot.engine.moment import Moment
from bot.engine.purposes import Asked, Purpose, Why, purpose_of
from bot.engine.replies import Block, Choice, Number, Paragraph, Reply, Spans, Step, Steps
from content.schema import Example
from sandbox_runner.protocol import Accepted, Budget, Device, Job, JobKind, Limits, Phase, Progress, limits_for

MOST_RUNNING = 2
_AWAY = frozenset({"run.no_runner", "run.no_device", "run.gpu_not_left"})
"""Why nothing is measured here now: what was seen of an example elsewhere is shown then."""

_TIMED = (Phase.START, Phase.IMPORT, Phase.RUN, Phase.CHECK, Phase.WARMUP, Phase.MEASURE, Phase.COLLECT)
_STEPS: dict[JobKind, tuple[Phase, ...]] = {
    JobKind.RUN: (Phase.START, Phase.IMPORT, Phase.RUN, Phase.COLLECT),
    JobKind.TIME: _TIMED,
    JobKind.EXERCISE: _TIMED,
    JobKind.INSPECT: (Phase.START, Phase.IMPORT, Phase.RUN, Phase.COMPILE, Phase.COLLECT),
}
"""The phases of a kind in the order in which the runner enters them."""


def of_example(moment: Moment, slug: str, example: Example, purpose: Purpose, *, each: bool = False) -> Asked:
    """Give what runs an example of a lesson, within the example's own limits."""
    return Asked(
        source=moment.course.files.get(f"{slug}/{example.file}", ""),
        kind=JobKind(example.kind),
        purpose=purpose,
        filename=example.file.rsplit("/", 1)[-1],
        devices=tuple(Device(device) for device in example.devices),
        limits=Limits(run_s=example.run_s, memory_bytes=example.memory_mib << 20),
        each=each,
        gpus=None if example.gpus == "all" else example.gpus,
    )


def started(moment: Moment, asked: Asked, retry: Choice | None = None, instead: Choice | None = None) -> Turn:
    """Send a job to the runner, or say why that cannot be now.

    `retry` is the button that asks for it again, `instead` the one that asks for the processor where a device is away.
    """
    refusal = _refusal(moment, asked)
    if refusal:
        stop = _stops(moment) if refusal == "run.too_many" else ()
        again = replace(retry, label=moment.words.text("button.retry")) if retry else None
        wanted = asked.devices[0] if asked.devices else Device.CPU
        device_name = Device.CUDA.value if wanted is Device.BOTH else wanted.value
        machine = presses.command(moment, Command.MACHINE) if refusal in {"run.no_device", "run.no_kind"} else None
        away = refusal in _AWAY and asked.purpose.why is Why.EXAMPLE  # a myth card tells by itself what was recorded
        example = seen.example_of(moment, asked.purpose) if away else None
        return moment.turn(
            *said(
                Paragraph(moment.words.say(refusal, n=MOST_RUNNING, device=device_name)),
                *(seen.told(moment, *example) if example else ()),
                *buttons(*stop, again, instead if refusal in {"run.no_device", "run.gpu_not_left"} else None, machine),
            )
        )
    jobs = tuple(_job(moment, asked, device) for device in _devices(moment, asked))
    running = (*moment.session.running, *(job.id for job in jobs))
    last = moment.session.last_run if asked.kind is JobKind.INSPECT else jobs[-1].id
    session = moment.session.with_(running=running, last_run=last)
    session = sides.opened(session, jobs) if len(jobs) > 1 else session
    effects: list[Effect] = []
    for job in jobs:
        slot = asked.purpose.slot(job.id)
        sent = Paragraph(_sent(moment, job, alone=len(jobs) == 1))
        effects += [Say(Reply((sent, *_under_way(moment, job, None))), slot), RunCode(job, slot)]
    return Turn(session, tuple(effects))


def _job(moment: Moment, asked: Asked, device: Device) -> Job:
    gpus = _gpus(moment, asked, device)
    return Job(
        id=moment.dice.identity(),
        kind=asked.kind,
        source=asked.source,
        learner=moment.session.learner,
        device=device,
        budget=asked.budget,
        limits=_shared_out(asked.limits, gpus) if asked.limits else limits_for(device, gpus),
        filename=asked.filename,
        exercise=asked.exercise,
        gpus=gpus,
        machine=asked.machine,
    )


def _gpus(moment: Moment, asked: Asked, device: Device) -> int:
    able = moment.known.capabilities
    if device is Device.CPU or asked.gpus is None:
        return 1 if device is Device.CPU or able is None else max(able.device_count, 1)
    return asked.gpus


def _shared_out(limits: Limits, gpus: int) -> Limits:
    """Give each GPU's process what an example states for one."""
    if gpus == 1:
        return limits
    plain = limits_for(Device.CUDA, gpus)
    memory = limits.memory_bytes * gpus
    return replace(limits, memory_bytes=memory, processes=plain.processes, disk_bytes=plain.disk_bytes)


def _of_one(job: Job) -> Limits:
    """Give what a job's limits are for one of its GPUs."""
    return replace(job.limits, memory_bytes=job.limits.memory_bytes // job.gpus)


def _wished(moment: Moment, job: Job, purpose: Purpose) -> int | None:
    """Say how many GPUs the code of a run wants wherever it runs: an example says it itself."""
    listed = (each for lesson in moment.course.lessons for each in lesson.examples)
    example = next((each for each in listed if purpose.why is Why.EXAMPLE and each.id == purpose.item), None)
    if example is None:
        return job.gpus
    return None if example.gpus == "all" else example.gpus


def _sent(moment: Moment, job: Job, *, alone: bool) -> Spans:
    if alone and job.device is Device.CPU:
        return moment.words.say("run.sent")
    if job.gpus > 1:
        return moment.words.say("run.sent_to_gpus", n=job.gpus)
    return moment.words.say("run.sent_to", device=moment.words.say(f"device.{job.device}"))


def again(moment: Moment, option: str) -> Turn:
    """Run the job of a known run again: to time, run or look inside it, within another budget, or on another device."""
    known = moment.known.run
    if known is None or known.job.learner != moment.session.learner:
        return moment.turn(*said(Paragraph(moment.words.say("run.forgotten"))))
    job = known.job
    if option == KERNEL:
        shown = known if moment.known.last is None else moment.known.last
        return moment.turn(*said(*insights.kernels(moment, shown.result)))
    if option == INSPECT:
        purpose = purpose_of(known.slot)
        about = purpose if purpose.why is Why.EXAMPLE else Purpose()
        looked = Asked(job.source, JobKind.INSPECT, about, job.filename, (job.device,), limits=_of_one(job))
        return started(moment, looked, Choice("", encode(Op.AGAIN, job.id, option)))
    budget = Budget(option) if option in set(Budget) else Budget.DEFAULT
    if job.kind is JobKind.EXERCISE and option == tasks.SEARCH:
        looked_for = tasks.searched(moment, purpose_of(known.slot).item, job.source, job.filename)
        retry = Choice("", encode(Op.AGAIN, job.id, option))
        return started(moment, looked_for, retry) if looked_for else asks.refused(moment, "button.gone")
    if job.kind is JobKind.EXERCISE:
        graded = tasks.graded(moment, purpose_of(known.slot).item, job.source, job.filename, budget)
        retry = Choice("", encode(Op.AGAIN, job.id, option))
        if graded is None:
            return asks.refused(moment, "button.gone")
        return started(moment, replace(graded, machine=_ran_on(moment, job)), retry)
    purpose = purpose_of(known.slot)
    if option in set(Device):
        own = purpose.why not in {Why.EXAMPLE, Why.MYTH}
        limits = None if own else _of_one(job)
        asked = Asked(job.source, job.kind, purpose, job.filename, (Device(option),), job.budget, limits)
        asked = replace(asked, gpus=_wished(moment, job, purpose))
        return started(moment, asked, Choice("", encode(Op.AGAIN, job.id, option)), _on_cpu(moment, job, purpose))
    kind = JobKind.RUN if option == JobKind.RUN else JobKind.TIME
    asked = Asked(job.source, kind, purpose, job.filename, (job.device,), budget, _of_one(job), gpus=job.gpus)
    asked = replace(asked, machine=_ran_on(moment, job) if kind is job.kind is JobKind.TIME else "")
    return started(moment, asked, Choice("", encode(Op.AGAIN, job.id, option)), _on_cpu(moment, job, purpose))


def _ran_on(moment: Moment, job: Job) -> str:
    """Name the machine whose figures those of another try will be compared with."""
    last = moment.known.last
    ran_on = last.result.machine.name if last is not None and last.job.id == job.id and last.result else ""
    return ran_on or job.machine


def _on_cpu(moment: Moment, job: Job, purpose: Purpose) -> Choice | None:
    """Offer the processor for code that is the learner's own; an example says itself where it can run."""
    own = purpose.why not in {Why.EXAMPLE, Why.MYTH}
    return Choice(moment.words.text("button.on_cpu"), encode(Op.AGAIN, job.id, Device.CPU.value)) if own else None


def cancelled(moment: Moment, run: str) -> Turn:
    """Stop a run of this session; the reply that shows it says so, until the end takes its place."""
    if run not in moment.session.running:
        return moment.turn(*said(Paragraph(moment.words.say("run.not_running"))))
    known = moment.known.run
    if known is None or known.job.id != run:
        return moment.turn(CancelRun(run), *said(Paragraph(moment.words.say("run.cancel_sent"))))
    stopping = Reply((Paragraph(moment.words.say("run.cancelling")),))
    return moment.turn(CancelRun(run), Edit(known.slot, stopping))


def progressed(moment: Moment, event: RunProgressed) -> Turn:
    """Show where a run stands, in the place of its reply."""
    known = moment.known.run
    if event.run not in moment.session.running or known is None or known.done:
        return moment.turn()
    blocks = _standing(moment, known.job, event.progress)
    return moment.turn(Edit(known.slot, Reply(blocks)))


def finished(moment: Moment, event: RunFinished) -> Turn:
    """Tell how a run ended, in the place of its reply."""
    if event.run not in moment.session.running:
        return moment.turn()
    moment = _without(moment, event.run)
    known = moment.known.run
    purpose = purpose_of(known.slot) if known else Purpose()
    moment = moment.changed(ran=True, told=moment.session.told if purpose.why is Why.EXAMPLE else None)
    if known and purpose.why is Why.ITEM:
        return writing.finished(moment, event.result, known.job.source, purpose, known.slot)
    if known and purpose.why is Why.EXERCISE and purpose.vote == tasks.SEARCH:
        return searching.finished(moment, event.result, known.job, purpose, known.slot)
    if known and known.job.kind is JobKind.EXERCISE:
        return grading.finished(moment, event.result, known.job, purpose, known.slot)
    first, *more = said(*results.told(moment, event.run, event.result, known.job if known else None, purpose))
    moment, compared = sides.closed(moment, event.run, event.result, purpose)
    return moment.turn(Edit(known.slot, first.reply) if known else first, *more, *compared)


def _without(moment: Moment, run: str) -> Moment:
    return moment.changed(running=tuple(each for each in moment.session.running if each != run))


def _refusal(moment: Moment, asked: Asked) -> str:
    able = moment.known.capabilities
    if len(moment.session.running) + max(len(_devices(moment, asked)), 1) > MOST_RUNNING:
        return "run.too_many"
    if able is None:
        return "run.no_runner"
    if asked.kind not in able.kinds:
        return "run.no_kind"
    if Device.CUDA in _devices(moment, asked) and moment.known.gpu_left == 0:
        return "run.gpu_not_left"
    return "" if _devices(moment, asked) else "run.no_device"


def _devices(moment: Moment, asked: Asked) -> tuple[Device, ...]:
    """Choose where it runs; none where what was asked for is not there, for nothing falls back in silence."""
    if Device.BOTH in asked.devices:
        both = (Device.CPU, Device.CUDA)
        return both if all(_has(moment, device) for device in both) else ()
    there = tuple(device for device in asked.devices if _has(moment, device))
    return there if asked.each else there[:1]


def _has(moment: Moment, device: Device) -> bool:
    able = moment.known.capabilities
    return able is not None and device in able.devices


def _standing(moment: Moment, job: Job, progress: Accepted | Progress) -> tuple[Block, ...]:
    words = moment.words
    match progress:
        case Accepted(position, wait_s):
            ahead = words.say("run.queued", n=position) if position else words.say("run.next_in_line")
            wait = (
                words.say("run.wait", wait=words.say("unit.seconds", n=Number(plain(wait_s))))
                if position and wait_s >= 1
                else ()
            )
            return (Paragraph((*ahead, *wait)), *_under_way(moment, job, None))
        case Progress():
            return (Paragraph(words.say("run.under_way")), *_under_way(moment, job, progress))


def _under_way(moment: Moment, job: Job, progress: Progress | None) -> tuple[Block, ...]:
    return (_steps(moment, job, progress), *buttons(_cancel(moment, job.id)))


def _steps(moment: Moment, job: Job, progress: Progress | None) -> Steps:
    phases = _STEPS.get(job.kind, _STEPS[JobKind.RUN])
    if progress and progress.phase not in phases:
        # A compile, or a phase of another kind, comes after the set-up or the learner's own run.
        after = phases.index(Phase.RUN) + 1
        phases = (*phases[:after], progress.phase, *phases[after:])
    now = phases.index(progress.phase) if progress else -1
    labels = [_label(moment, job, phase) for phase in phases]
    return Steps(tuple(_step(label, i - now, progress) for i, label in enumerate(labels)))


def _label(moment: Moment, job: Job, phase: Phase) -> str:
    setup = phase is Phase.RUN and job.kind is not JobKind.RUN
    return moment.words.text("phase.setup" if setup else f"phase.{phase}")


def _step(label: str, distance: int, progress: Progress | None) -> Step:
    if distance or progress is None:
        return Step(label, "past" if distance < 0 and progress else "ahead")
    return Step(label, "now", max(progress.done, 0), max(progress.total, 0))


def _stops(moment: Moment) -> tuple[Choice, ...]:
    """Give a numbered button for each run under way: the first is the one that was sent first."""
    return tuple(
        Choice(moment.words.text("button.cancel_nth", number=number), encode(Op.CANCEL, run))
        for number, run in enumerate(moment.session.running, 1)
    )


def _cancel(moment: Moment, run: str) -> Choice:
    return Choice(moment.words.text("button.cancel_run"), encode(Op.CANCEL, run))
