"""A question answered in chat: the passage with its source and what is near it, three offers, or an honest no.

Law: every sentence of an answer stands in the lessons. While a question of a check is open, nothing that could give its
answer away is shown, and the check stays where it is.
"""

from collections.abc import Iterator

from bot.engine import asks, presses, reading
from bot.engine.answering import learning, rephrased
from bot.engine.answering.answerer import Found, of
from bot.engine.answering.bands import Band
from bot.engine.answering.index import Hit
from bot.engine.answering.normalise import MOST
from bot.engine.bubbles import buttons, said
from bot.engine.commands import Command
from bot.engine.course_map import Part, go
from bot.engine.effects import Turn
from bot.engine.expects import Expects
from bot.engine.letters import fold
from bot.engine.moment import Moment
from bot.engine.questions import WITHHELD
from bot.engine.replies import Block, Bullets, Choice, Code, CodeBlock, Heading, Paragraph, Text
from bot.engine.session import Place
from bot.engine.wording import inline, plain
from content import schema
from content.schema import (
    FillBlank,
    Item,
    Lesson,
    NumberAnswer,
    PredictOutput,
    Section,
    SeveralChoice,
    SingleChoice,
)

_ECHO = 60
"""Characters of a learner's text that are shown back."""
_TELLING = 3
"""Letters from which an answer found in a passage gives something away."""


def answered(moment: Moment, text: str) -> Turn:
    """Answer a question, or what may be one."""
    if not any(letter.isalpha() for letter in text):
        return _unread(moment, "answer.no_letters")
    if not any(letter.isascii() or "\u0600" <= letter <= "\u06ff" for letter in fold(text) if letter.isalpha()):
        return _unread(moment, "answer.other_script")
    answerer = of(moment.course)
    found = answerer.ask(text)
    if answerer.manners.gives_orders(text) and found.band is not Band.ANSWER:
        return _unread(moment, "answer.orders")
    open_hits = tuple(hit for hit in found.hits if hit.score > 0 and not gives_away(moment, hit.section))
    long = (Paragraph(moment.words.say("answer.long", most=MOST)),) if len(text) > MOST else ()
    band = Band.OFFER if moment.known.doubted and found.band is Band.ANSWER else found.band
    held = band is Band.ANSWER and found.hits[:1] != open_hits[:1]
    moment, note = learning.kept(moment, text, found, open_hits, WITHHELD if held else band.value)
    match band:
        case Band.ANSWER if held:
            turn = withheld(moment)
        case Band.ANSWER:
            turn = passage(moment, open_hits[0], open_hits[1:], before=long)
            turn = rephrased.asked(moment, text, open_hits[0].section, turn)
        case Band.OFFER if open_hits:
            turn = _offered(moment, open_hits, before=long)
        case _:
            turn = _refused(moment, text, found, open_hits, before=long)
    return turn.after(note)


def passage(moment: Moment, hit: Hit | Place, near: tuple[Hit, ...] = (), *, before: tuple[Block, ...] = ()) -> Turn:
    """Show a section as an answer, with its source, its example, and what is near it."""
    place = hit if isinstance(hit, Place) else _place(hit)
    lesson, section = _found(moment, place)
    words = moment.words
    source = words.say("answer.source", lesson=inline(lesson.title), section=inline(section.title))
    examples = (presses.run_example(moment, lesson, example) for example in reading.examples_at(lesson, place)[:1])
    around = (Paragraph(words.say("answer.near")),) if near else ()
    return moment.changed(told=place).turn(
        *said(
            *before,
            Heading(inline(section.title)),
            *reading.passage(moment, lesson, section),
            Paragraph(source),
            *buttons(*examples, Choice(words.text("button.open_section"), go(place))),
        ),
        *said(*around, *still_open(moment), *buttons(*ways(moment, near), presses.go_on_with_series(moment))),
    )


def withheld(moment: Moment) -> Turn:
    """Say that the answer would be the open question's, and what can be had instead."""
    words = moment.words
    return moment.turn(
        *said(Paragraph(words.say("answer.withheld")), *buttons(hint(moment), presses.go_on_with_series(moment)))
    )


def hint(moment: Moment) -> Choice | None:
    """Offer a hint for the question of a check that is open, where it has any."""
    ask, item = _open_item(moment)
    return presses.answer(moment.words.text("button.hint"), ask, presses.HINT) if item and item.hints else None


def gives_away(moment: Moment, section: Section) -> bool:
    """Tell whether a section could give away the answer of the question that is open."""
    _, item = _open_item(moment)
    if item is None:
        return False
    return item.topic is section.topic or _runs(moment, item, section) or _stands_in(item, *_shown_of(moment, section))


def tells_answer(moment: Moment, *blocks: Block) -> bool:
    """Tell whether what is to be said holds the answer of the question that is open."""
    _, item = _open_item(moment)
    return item is not None and _stands_in(item, *(text for block in blocks for text in _texts(block)))


def _stands_in(item: Item, *texts: str) -> bool:
    told = f" {' '.join(map(fold, texts))} "
    return any(f" {answer} " in told for answer in _answers(item) if len(answer) >= _TELLING)


def _runs(moment: Moment, item: Item, section: Section) -> bool:
    """Tell whether a section shows or runs the very code whose output is asked for, or another that prints it."""
    asked, lesson = _open_item(moment)[0], _lesson_of(moment, section)
    own = moment.lesson(moment.known.ask.lesson) if asked and moment.known.ask else None
    if not isinstance(item, PredictOutput) or lesson is None or own is None:
        return False
    code = moment.text_of(own, item.code)
    printed = {fold(answer) for answer in (item.answer, *item.alternatives)}
    for block in section.blocks:
        match block:
            case schema.CodeBlock() if moment.text_of(lesson, block.file) == code:
                return True
            case schema.CodeBlock() if block.expect and fold(moment.text_of(lesson, block.expect)) in printed:
                return True
            case schema.ExampleBlock(example=name):
                examples = (each for each in lesson.examples if each.id == name)
                if any(moment.text_of(lesson, each.file) == code for each in examples):
                    return True
            case _:
                pass
    return False


def _lesson_of(moment: Moment, section: Section) -> Lesson | None:
    return next((each for each in moment.course.lessons if section in each.sections), None)


def _shown_of(moment: Moment, section: Section) -> Iterator[str]:
    """Give everything of a section that an answer shows: prose, captions, code and what it prints."""
    lesson = _lesson_of(moment, section)
    for block in section.blocks:
        match block:
            case schema.TextBlock():
                yield block.text
            case schema.PictureBlock():
                yield block.caption or ""
            case schema.CodeBlock() if lesson:
                yield moment.text_of(lesson, block.file)
                yield moment.text_of(lesson, block.expect or "")
            case schema.ExampleBlock(example=name) if lesson:
                for each in lesson.examples:
                    expected = each.expected.file if each.id == name and each.expected else ""
                    yield moment.text_of(lesson, expected or "")
            case _:
                pass


def _texts(block: Block) -> Iterator[str]:
    match block:
        case Heading(spans) | Paragraph(spans):
            yield plain(spans)
        case Bullets(items):
            yield from map(plain, items)
        case CodeBlock(code):
            yield code
        case _:
            pass


def still_open(moment: Moment) -> tuple[Block, ...]:
    """Say that the question of a check still waits, where one does."""
    if moment.session.expects != Expects.ANSWER:
        return ()
    return (Paragraph(moment.words.say("quiz.still_open")),)


def _open_item(moment: Moment) -> tuple[str, Item | None]:
    ask = moment.known.ask
    if moment.session.expects != Expects.ANSWER or ask is None or asks.fault(moment, ask) or ask.kind != "item":
        return "", None
    lesson = moment.lesson(ask.lesson)
    return ask.id, next((item for item in lesson.check if item.id == ask.item), None) if lesson else None


def _answers(item: Item) -> tuple[str, ...]:
    match item:
        case PredictOutput() | FillBlank():
            return tuple(map(fold, (item.answer, *item.alternatives)))
        case NumberAnswer():
            return (fold(f"{item.value:.10g}"),)
        case SingleChoice() | SeveralChoice():
            return tuple(fold(option.text) for option in item.options if option.right)
        case _:
            return ()


def _offered(moment: Moment, hits: tuple[Hit, ...], *, before: tuple[Block, ...]) -> Turn:
    sentence = Paragraph(moment.words.say("answer.offer"))
    choices = buttons(*ways(moment, hits), presses.go_on_with_series(moment))
    return moment.turn(*said(*before, *still_open(moment), sentence, *choices))


def _refused(moment: Moment, text: str, found: Found, hits: tuple[Hit, ...], *, before: tuple[Block, ...]) -> Turn:
    words = moment.words
    echo = Code(" ".join(text.split())[:_ECHO])
    asks_something = of(moment.course).manners.asks(text)
    sentence = Paragraph(words.say("answer.refused" if asks_something else "unknown.text", text=echo))
    known = tuple(dict.fromkeys(token for token in found.terms.tokens if token in found.terms.named))
    joined = tuple(span for token in known for span in (Text("، "), Code(token)))[1:]
    understood = (Paragraph(words.say("answer.understood", terms=joined)),) if known else ()
    near = (Paragraph(words.say("answer.nearest")),) if hits else ()
    help_ways = (presses.command(moment, Command.MAP), presses.command(moment, Command.HELP))
    return moment.turn(
        *said(
            *before,
            sentence,
            *understood,
            *still_open(moment),
            *near,
            *buttons(*ways(moment, hits), presses.go_on_with_series(moment), *(() if hits else help_ways)),
        )
    )


def _unread(moment: Moment, key: str) -> Turn:
    return moment.turn(
        *said(
            Paragraph(moment.words.say(key)),
            *still_open(moment),
            *buttons(
                presses.go_on_with_series(moment),
                presses.command(moment, Command.MAP),
                presses.command(moment, Command.HELP),
                columns=2,
            ),
        )
    )


def ways(moment: Moment, hits: tuple[Hit, ...]) -> tuple[Choice, ...]:
    """Give the buttons to the sections that were found."""
    return tuple(presses.to_place(moment, hit.lesson, _place(hit)) for hit in hits)


def _place(hit: Hit) -> Place:
    return Place(hit.lesson.slug, Part.SECTION, hit.section.id)


def _found(moment: Moment, place: Place) -> tuple[Lesson, Section]:
    return next(
        (lesson, section)
        for lesson in moment.course.lessons
        for section in lesson.sections
        if (lesson.slug, section.id) == (place.lesson, place.section)
    )
