"""What an example gave on machines seen before, shown beside the learner's own figures and never instead of them."""

from bot.engine.figures import interval_ends, within
from bot.engine.moment import Moment
from bot.engine.purposes import Purpose, Why
from bot.engine.replies import Block, Bullets, Code, Number, Paragraph, Spans, Text
from content.schema import Example, Lesson, RecordedMachine, RecordedRatio, RecordedRun

_MOST_MACHINES, _MOST_RATIOS = 3, 3


def example_of(moment: Moment, purpose: Purpose) -> tuple[Lesson, Example] | None:
    """Give the example that a run was of, directly or as the experiment of a myth card."""
    wanted = purpose.item
    for lesson in moment.course.lessons:
        if purpose.why is Why.MYTH:
            wanted = next((myth.experiment for myth in lesson.myths if myth.id == purpose.item), "")
        for example in lesson.examples:
            if purpose.why in {Why.EXAMPLE, Why.MYTH} and example.id == wanted:
                return lesson, example
    return None


def told(moment: Moment, lesson: Lesson, example: Example) -> tuple[Block, ...]:
    """Word what is recorded of an example as it is now; nothing where nothing is."""
    found = [pair for pair in moment.course.seen(lesson.slug, example) if pair[1].ratios]
    rows = tuple(_row(moment, machine, run) for machine, run in found[:_MOST_MACHINES])
    return (Paragraph(moment.words.say("seen.title")), Bullets(rows)) if rows else ()


def _row(moment: Moment, machine: RecordedMachine, run: RecordedRun) -> Spans:
    date = Number(machine.recorded_at.date().isoformat())
    head = moment.words.say(
        "seen.on", machine=Code(machine.title), date=date, device=moment.words.say(f"seen.{run.device}")
    )
    spans: Spans = (*head, Text(" "))
    for i, ratio in enumerate(run.ratios[:_MOST_RATIOS]):
        spans = (*spans, *((Text("؛ "),) if i else ()), *_ratio(moment, ratio))
    return spans


def _ratio(moment: Moment, ratio: RecordedRatio) -> Spans:
    point, low, high = ratio.point, ratio.low, ratio.high
    if ratio.claim == "slower":
        point, low, high = 1 / point, 1 / high, 1 / low
    ends = interval_ends(low, high)
    return moment.words.say(
        f"seen.{ratio.claim}",
        name=Code(ratio.name),
        against=Code(ratio.against),
        times=moment.words.say("verdict.times", n=Number(within(point, low, high))),
        low=Number(ends[0]),
        high=Number(ends[1]),
    )
