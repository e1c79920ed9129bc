"""The measured verdict on a myth card, beside the votes and the explanation.

Law: the machine decides what is said of this machine; what the lesson says in general, and what was seen on another
machine, stand beside it, apart and named as such.
"""

from collections.abc import Sequence

from bot.engine import measured as figures_of
from bot.engine.bubbles import paragraphs
from bot.engine.moment import Moment
from bot.engine.purposes import Purpose, Why
from bot.engine.replies import Block, Bullets, Code, Number, Paragraph, Spans, Strong, Text
from bot.engine.session import Side
from bot.engine.wording import inline
from content.schema import Finding, Myth, RecordedMachine, RecordedRatio, RecordedRun
from sandbox_runner.protocol import Claim, Ratio, Result

_TURNED = {Claim.FASTER: Claim.SLOWER, Claim.SLOWER: Claim.FASTER}
VOTES = ("fact", "myth", "depends")


def of_myth(moment: Moment, result: Result, purpose: Purpose, side: str = "") -> tuple[Block, ...]:
    """Give what a finished experiment says of its card; nothing for other runs.

    `side` is `first` or `last` where it runs on both devices: the whole is said beside the last, by `on_each`.
    """
    myth = find(moment, purpose) if purpose.why is Why.MYTH else None
    if myth is None:
        return ()
    words = moment.words
    here = Paragraph(words.say(f"myth.{_held(result.ratios, myth.finding)}"))
    claim = Paragraph((*words.say("myth.claim"), Text(" "), *inline(myth.claim)))
    if side:
        return (claim, here, *((Paragraph(words.say("myth.other_device_runs")),) if side == "first" else ()))
    return (claim, here, *elsewhere(moment, myth, (result.device.value,)), *told(moment, myth, purpose.vote))


def on_each(moment: Moment, myth: Myth, sides: Sequence[Side], vote: str) -> tuple[Block, ...]:
    """Give both devices' verdicts with their figures, and what they say together."""
    words = moment.words
    held = [_held(side.ratios, myth.finding) for side in sides]
    lines = tuple(_side(moment, myth, side, verdict) for side, verdict in zip(sides, held, strict=True))
    both: tuple[Block, ...] = ()
    if set(held) == {"holds", "fails"}:
        where = next(side.device for side, verdict in zip(sides, held, strict=True) if verdict == "holds")
        both = (Paragraph(words.say("myth.holds_on_one", device=words.say(f"device.{where}"))),)
    elif len(set(held)) == 1 and held[0] != "not_decided":
        both = (Paragraph(words.say(f"myth.{held[0]}_on_both")),)
    claim = Paragraph((*words.say("myth.claim"), Text(" "), *inline(myth.claim)))
    return (claim, Bullets(lines), *both, *told(moment, myth, vote))


def elsewhere(moment: Moment, myth: Myth, devices: Sequence[str]) -> tuple[Block, ...]:
    """Say which device was measured where the experiment could run on more, and what was recorded on the others."""
    words = moment.words
    pairs = ((lesson, each) for lesson in moment.course.lessons for each in lesson.examples)
    found = next((pair for pair in pairs if pair[1].id == myth.experiment), None)
    if found is None:
        return ()
    lesson, example = found
    only = set(example.devices) - set(devices) and len(devices) == 1
    head = (Paragraph(words.say("myth.only_here", device=words.say(f"device.{devices[0]}"))),) if only else ()
    there = tuple(
        _recorded(moment, myth, machine, run)
        for machine, run in moment.course.seen(lesson.slug, example)
        if run.device not in devices and any(_decides(ratio, myth.finding) for ratio in run.ratios)
    )
    return (*head, *((Paragraph(words.say("myth.seen_elsewhere")), Bullets(there)) if there else ()))


def told(moment: Moment, myth: Myth, vote: str) -> tuple[Block, ...]:
    """Give the lesson's own verdict, the votes, and the explanation."""
    words = moment.words
    general = Paragraph(words.say(f"myth.truth_{myth.truth}"))
    own = words.say("myth.your_vote", vote=words.text(f"vote.{vote}")) if vote in VOTES else ()
    others = _votes(moment, myth, vote)
    ballot = (Paragraph((*own, *((Text(" "),) if own and others else ()), *others)),) if own or others else ()
    head = Paragraph((Strong(words.text("myth.explanation")),))
    return (general, *ballot, head, *paragraphs(myth.explanation))


def measured(ratios: tuple[Ratio, ...], finding: Finding) -> Claim | None:
    """Give what was measured of a card's finding; None when it was not measured."""
    for ratio in ratios:
        if (ratio.name, ratio.against) == (finding.name, finding.against):
            return ratio.claim
        if (ratio.name, ratio.against) == (finding.against, finding.name):
            return _TURNED.get(ratio.claim, ratio.claim)
    return None


def find(moment: Moment, purpose: Purpose) -> Myth | None:
    """Give the card that an experiment was for; None when it is gone."""
    listed = (myth for lesson in moment.course.lessons for myth in lesson.myths)
    return next((myth for myth in listed if myth.id == purpose.item), None)


def vote_of(moment: Moment, myth: Myth) -> str:
    """Give the learner's vote on this revision of a card; empty when there is none."""
    rev, vote = moment.known.tries.voted.get(myth.id, (0, ""))
    return vote if rev == myth.rev else ""


def _held(ratios: tuple[Ratio, ...], finding: Finding) -> str:
    claim = measured(ratios, finding)
    if claim is None or claim is Claim.UNCLEAR:
        return "not_decided"
    return "holds" if claim.value in finding.holds_when else "fails"


def _side(moment: Moment, myth: Myth, side: Side, verdict: str) -> Spans:
    words = moment.words
    ratio = next((each for each in side.ratios if _decides(each, myth.finding)), None)
    figure = figures_of.verdict(moment, ratio) if ratio else words.say(f"ending.{side.ending}")
    return (
        Strong(words.text(f"device.{side.device}")),
        Text(": "),
        *words.say(f"myth.{verdict}_there"),
        Text(" "),
        *figure,
    )


def _recorded(moment: Moment, myth: Myth, machine: RecordedMachine, run: RecordedRun) -> Spans:
    words = moment.words
    ratio = next(_as_measured(each) for each in run.ratios if _decides(each, myth.finding))
    date = Number(machine.recorded_at.date().isoformat())
    return (
        Strong(words.text(f"device.{run.device}")),
        Text(" "),
        *words.say("myth.seen_on", machine=Code(machine.title), date=date),
        Text(" "),
        *words.say(f"myth.{_held((ratio,), myth.finding)}_there"),
        Text(" "),
        *figures_of.verdict(moment, ratio),
    )


def _as_measured(ratio: RecordedRatio) -> Ratio:
    return Ratio(ratio.name, ratio.against, ratio.point, (ratio.low, ratio.high), Claim(ratio.claim), 0)


def _decides(ratio: Ratio | RecordedRatio, finding: Finding) -> bool:
    return {ratio.name, ratio.against} == {finding.name, finding.against}


def _votes(moment: Moment, myth: Myth, vote: str) -> Spans:
    """Count everyone's votes on this revision; the learner's own counts though it was cast in this very turn."""
    found = moment.known.tries
    if found.counted != myth.id:
        return ()
    counts = {each: max(found.counts.get((myth.rev, each), 0), 0) for each in VOTES}
    if vote in counts and not vote_of(moment, myth):
        counts[vote] += 1
    return moment.words.say("myth.votes", **counts) if sum(counts.values()) else ()
