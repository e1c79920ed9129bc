"""One snippet on both devices: two runs that belong together, and what they say side by side once both have ended.

Law: each device keeps its own verdict; neither stands for the other, and what did not run is not guessed.
"""

from dataclasses import replace

from bot.engine import measured, presses, verdicts
from bot.engine.bubbles import buttons, said
from bot.engine.effects import Say
from bot.engine.moment import Moment
from bot.engine.purposes import Purpose, Why
from bot.engine.replies import Block, Bullets, Code, Heading, Paragraph, Spans, Strong, Text
from bot.engine.session import Session, Side
from sandbox_runner.protocol import Claim, Ending, Job, Ratio, Result

_MOST_PAIRS = 2
_MOST_RATIOS = 6
_MACHINE = 60
_PRINTED = 400
"""Characters of the output that are kept to tell whether both devices printed the same."""


def opened(session: Session, jobs: tuple[Job, ...]) -> Session:
    """Remember that these runs are the two sides of one snippet."""
    pair = tuple(Side(job.id, job.device.value) for job in jobs)
    return session.with_(pairs=(*session.pairs, pair)[-_MOST_PAIRS:])


def paired(session: Session, run: str) -> bool:
    """Tell whether a run is one side of a pair that is not complete."""
    return any(side.run == run for pair in session.pairs for side in pair)


def side_of(session: Session, run: str) -> str:
    """Say whether a run that has just ended is the `first` or the `last` of its pair; empty where it has none."""
    pair = next((pair for pair in session.pairs if any(side.run == run for side in pair)), ())
    if not pair:
        return ""
    return "last" if all(side.ending for side in pair if side.run != run) else "first"


def closed(moment: Moment, run: str, result: Result, purpose: Purpose) -> tuple[Moment, tuple[Say, ...]]:
    """Keep how one side ended; once both have, say them side by side and forget the pair."""
    pair = next((pair for pair in moment.session.pairs if any(side.run == run for side in pair)), None)
    if pair is None:
        return moment, ()
    full = tuple(_ended(side, result) if side.run == run else side for side in pair)
    others = tuple(each for each in moment.session.pairs if each is not pair)
    if not all(side.ending for side in full):
        return moment.changed(pairs=(*others, full)), ()
    moment = moment.changed(pairs=others)
    head = Heading(moment.words.say("sides.title"))
    myth = verdicts.find(moment, purpose) if purpose.why is Why.MYTH else None
    if myth is None:
        return moment, said(head, *_compared(moment, full))
    lesson = next(lesson for lesson in moment.course.lessons if myth in lesson.myths)
    ways = buttons(presses.after_myth(moment, lesson), presses.outline(moment, lesson), columns=2)
    return moment, said(head, *verdicts.on_each(moment, myth, full, purpose.vote), *ways)


def _ended(side: Side, result: Result) -> Side:
    printed = (result.stdout.head + result.stdout.tail + result.value)[:_PRINTED]
    ratios, machine = result.ratios[:_MOST_RATIOS], result.machine.name[:_MACHINE]
    return replace(side, ending=result.ending.value, ratios=ratios, printed=printed, machine=machine)


def _compared(moment: Moment, pair: tuple[Side, ...]) -> tuple[Block, ...]:
    words = moment.words
    names = dict.fromkeys((ratio.name, ratio.against) for side in pair for ratio in side.ratios)
    if not names:
        endings = Bullets(tuple(_line(moment, side, words.say(f"ending.{side.ending}")) for side in pair))
        fine = all(side.ending == Ending.OK for side in pair)
        same = "sides.same_output" if len({side.printed for side in pair}) == 1 else "sides.other_output"
        return (endings, *((Paragraph(words.say(same)),) if fine and any(side.printed for side in pair) else ()))
    blocks: list[Block] = []
    for name, against in names:
        found = [_ratio(side, name, against) for side in pair]
        lines = (
            measured.verdict(moment, ratio) if ratio else words.say(f"ending.{side.ending}")
            for side, ratio in zip(pair, found, strict=True)
        )
        blocks.append(Bullets(tuple(_line(moment, side, line) for side, line in zip(pair, lines, strict=True))))
        claims = {ratio.claim for ratio in found if ratio}
        if all(found) and Claim.UNCLEAR not in claims:
            key = "sides.same_verdict" if len(claims) == 1 else "sides.other_verdict"
            blocks.append(Paragraph(words.say(key, name=Code(name[:60]), against=Code(against[:60]))))
    return (*blocks, *_apart(moment, pair))


def _apart(moment: Moment, pair: tuple[Side, ...]) -> tuple[Block, ...]:
    """Say that two sides ran on machines of their own, so that not all of the difference is the device's."""
    if len({side.machine for side in pair}) == 1 or not all(side.machine for side in pair):
        return ()
    machines = " / ".join(side.machine for side in pair)
    return (Paragraph(moment.words.say("sides.apart", machines=Code(machines))),)


def _line(moment: Moment, side: Side, told: Spans) -> Spans:
    return (Strong(moment.words.text(f"device.{side.device}")), Text(": "), *told)


def _ratio(side: Side, name: str, against: str) -> Ratio | None:
    return next((ratio for ratio in side.ratios if (ratio.name, ratio.against) == (name, against)), None)
