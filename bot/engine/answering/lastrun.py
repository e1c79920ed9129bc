"""A question about the learner's last run, answered from its figures and flags.

Law: nothing is said of a run that was not measured in it; what a word means is said whether there is a run or not.
"""

from typing import assert_never

from bot.engine import measured, outputs, presses, results
from bot.engine.answering import learning, replying
from bot.engine.answering.answerer import of
from bot.engine.answering.bands import Band
from bot.engine.answering.ofruns import Aspect, OfRun
from bot.engine.bubbles import buttons, said
from bot.engine.buttons import Op, encode
from bot.engine.commands import Command
from bot.engine.effects import Turn
from bot.engine.figures import duration, interval_ends, percent
from bot.engine.known import KnownRun
from bot.engine.moment import Moment
from bot.engine.purposes import Why, purpose_of
from bot.engine.questions import OF_RUN
from bot.engine.replies import Block, Bullets, Choice, Code, Heading, Number, Paragraph, Spans
from sandbox_runner.protocol import Budget, Claim, Ending, JobKind, Ratio, Result

_NAME = 60
"""Characters of a learner's name of a variant or file that are shown."""
_WITH_MEANING = (Aspect.UNCLEAR, Aspect.UNSURE, Aspect.INTERVAL, Aspect.NOISE, Aspect.FIRST)
"""Questions whose words have a meaning of their own, beside the run's figures."""


def answered(moment: Moment, text: str) -> Turn | None:
    """Answer a question about the last run; None when the text is no such question."""
    answerer = of(moment.course)
    last = moment.known.last
    names = _variants(last.result) if last and last.result else ()
    found = answerer.ask(text)
    asked = answerer.run_talk.read(text, found.terms, names)
    if asked is None:
        return None
    if asked.bare and (moment.session.told is not None or not _compares(last)):
        return None
    if last is None and (found.terms.own or not asked.plainly):
        return None
    if last is not None and not asked.plainly and found.band is Band.ANSWER:
        return None
    moment, note = learning.kept(moment, text, found, (), OF_RUN)
    return told(moment, asked).after(note)


def _compares(last: KnownRun | None) -> bool:
    """Tell whether a run ended in a comparison."""
    return last is not None and last.result is not None and bool(last.result.ratios)


def carried_on(moment: Moment, aspect: Aspect) -> Turn | None:
    """Carry on from the end of a run; None when no run has ended."""
    last = moment.known.last
    return told(moment, OfRun(aspect, plainly=True)) if last is not None and last.result is not None else None


def told(moment: Moment, asked: OfRun) -> Turn:
    """Say what the last run's figures and flags answer."""
    words = moment.words
    moment = moment.changed(told=None, ran=True)
    meaning = _meaning(moment, asked.aspect)
    last = moment.known.last
    if last is None or last.result is None:
        key = "about.none" if last is None else "about.under_way"
        ways = buttons(presses.command(moment, Command.TIME), presses.go_on_with_series(moment))
        return moment.turn(*said(*meaning, Paragraph(words.say(key)), *replying.still_open(moment), *ways))
    body: tuple[Block, ...] = (*meaning, *_of_result(moment, asked.aspect, last, measured.worded(moment, last.result)))
    if replying.tells_answer(moment, *body):
        return replying.withheld(moment)
    head = Heading(words.say("about.title", file=Code(last.job.filename[:_NAME])))
    return moment.turn(
        *said(head, *body, *replying.still_open(moment), *buttons(*_ways(moment, asked.aspect, last, last.result)))
    )


def _meaning(moment: Moment, aspect: Aspect) -> tuple[Block, ...]:
    return (Paragraph(moment.words.say(f"about.means_{aspect}")),) if aspect in _WITH_MEANING else ()


def _of_result(moment: Moment, aspect: Aspect, last: KnownRun, result: Result) -> tuple[Block, ...]:
    words = moment.words
    if result.ending is not Ending.OK or aspect is Aspect.ERROR:
        return _ended(moment, last, result)
    if not result.variants:
        return (Paragraph(words.say("about.not_timed")),)
    match aspect:
        case Aspect.SLOW | Aspect.FAST | Aspect.SAME:
            decided = any(ratio.claim in {Claim.FASTER, Claim.SLOWER} for ratio in result.ratios)
            return (*_verdicts(moment, result), *(_causes if decided else _undecided)(moment, result))
        case Aspect.UNCLEAR:
            return (*_verdicts(moment, result), *_unclear(moment, result))
        case Aspect.UNSURE:
            return _sureness(moment, result)
        case Aspect.NOISE:
            return (*_noise(moment, result), *_flags(moment, result))
        case Aspect.INTERVAL:
            return _verdicts(moment, result)
        case Aspect.FIRST:
            return (_first_calls(moment, result), *_flags(moment, result))
        case Aspect.WHOLE:
            return (*_verdicts(moment, result), *_sureness(moment, result))
        case Aspect.ERROR:
            return ()
        case never:
            assert_never(never)


def _ended(moment: Moment, last: KnownRun, result: Result) -> tuple[Block, ...]:
    good = result.ending is Ending.OK
    note = (Paragraph(moment.words.say("about.no_error")),) if good else ()
    own = () if purpose_of(last.slot).why is Why.ITEM else outputs.fault(moment, result, last.job.source)
    ending = () if good else (Paragraph(results.ending_of(moment, result)),)
    return (*note, *ending, *own, *outputs.notes(moment, result), *_flags(moment, result))


def _verdicts(moment: Moment, result: Result) -> tuple[Block, ...]:
    """Say every comparison; where there is only one variant, its time and that nothing was compared."""
    if not result.ratios:
        return (Paragraph(moment.words.say("about.one_variant")), Paragraph(measured.single(moment, result)))
    return tuple(Paragraph(measured.verdict(moment, ratio)) for ratio in result.ratios)


def _causes(moment: Moment, result: Result) -> tuple[Block, ...]:
    flags = measured.flags(moment, result)
    if flags:
        return (Paragraph(moment.words.say("about.noticed")), *flags)
    return (Paragraph(moment.words.say("about.no_cause")),)


def _undecided(moment: Moment, result: Result) -> tuple[Block, ...]:
    """Say why nothing was decided, where that is so."""
    unclear = any(ratio.claim is Claim.UNCLEAR for ratio in result.ratios)
    return (*_meaning(moment, Aspect.UNCLEAR), *_unclear(moment, result)) if unclear else _flags(moment, result)


def _flags(moment: Moment, result: Result) -> tuple[Block, ...]:
    flags = measured.flags(moment, result)
    return (Paragraph(moment.words.say("about.noticed")), *flags) if flags else ()


def _unclear(moment: Moment, result: Result) -> tuple[Block, ...]:
    unclear = [ratio for ratio in result.ratios if ratio.claim is Claim.UNCLEAR]
    if not unclear:
        return (Paragraph(moment.words.say("about.nothing_unclear")),)
    shown = tuple(Paragraph(_spread(moment, ratio)) for ratio in unclear)
    return (*shown, *_noise(moment, result), *_flags(moment, result))


def _spread(moment: Moment, ratio: Ratio) -> Spans:
    low, high = interval_ends(*ratio.ci99)
    return moment.words.say(
        "about.unclear_spread",
        name=Code(ratio.name[:_NAME]),
        against=Code(ratio.against[:_NAME]),
        low=Number(low),
        high=Number(high),
    )


def _sureness(moment: Moment, result: Result) -> tuple[Block, ...]:
    words = moment.words
    clock = words.say("about.confirmed" if result.confirmed else "about.not_confirmed")
    few = words.say("about.few") if any(ratio.few for ratio in result.ratios) else ()
    checked = words.say("time.checked_values" if result.checked == "fresh_inputs" else "time.checked_time_only")
    noise = words.say("time.noise", noise=Number(percent(result.noise))) if result.noise > 0 else ()
    return (Bullets(tuple(each for each in (clock, few, checked, noise) if each)), *_flags(moment, result))


def _noise(moment: Moment, result: Result) -> tuple[Block, ...]:
    words = moment.words
    if result.noise <= 0:
        return (Paragraph(words.say("about.no_noise")),)
    return (Paragraph(words.say("time.noise", noise=Number(percent(result.noise)))),)


def _first_calls(moment: Moment, result: Result) -> Block:
    return Bullets(
        tuple(
            moment.words.say(
                "about.first_call",
                name=Code(variant.name[:_NAME]),
                first=Number(duration(variant.first_call_ns)),
                later=Number(duration(variant.median_ns)),
            )
            for variant in result.variants
        )
    )


def _ways(moment: Moment, aspect: Aspect, last: KnownRun, result: Result) -> tuple[Choice | None, ...]:
    """Give what can be done next: measure, measure longer, and the sections nearest to the code."""
    words = moment.words
    run = last.job.id
    again: Choice | None = None
    if result.ending is Ending.OK and not result.variants:
        again = Choice(words.text("button.measure_this"), encode(Op.AGAIN, run, JobKind.TIME.value))
    elif result.variants and last.job.kind is JobKind.TIME and last.job.budget is not Budget.THOROUGH:
        again = Choice(words.text("button.time_longer"), encode(Op.AGAIN, run, Budget.THOROUGH.value))
    near = _nearest(moment, last) if aspect in {Aspect.SLOW, Aspect.FAST, Aspect.SAME} else ()
    return (again, *near, presses.go_on_with_series(moment))


def _nearest(moment: Moment, last: KnownRun) -> tuple[Choice, ...]:
    """Give the sections that the run's own code is about, none that could give an open question's answer away."""
    _, hits = of(moment.course).search(last.job.source)
    return replying.ways(moment, tuple(hit for hit in hits if not replying.gives_away(moment, hit.section)))


def _variants(result: Result) -> tuple[str, ...]:
    return tuple(variant.name for variant in result.variants)
