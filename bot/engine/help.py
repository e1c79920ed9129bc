"""Where am I, what can be done, what machine is this, what is kept: the answers that belong to no lesson."""

from bot.engine import course_map, presses
from bot.engine.bubbles import buttons, said
from bot.engine.commands import Command
from bot.engine.effects import Turn
from bot.engine.figures import percent
from bot.engine.measured import machine_line
from bot.engine.moment import Moment
from bot.engine.replies import Block, Bullets, Choice, Code, Heading, Number, Paragraph, Spans, Text
from bot.engine.series import total
from bot.engine.wording import inline
from sandbox_runner.protocol import Capabilities

_LISTED = (
    Command.MAP,
    Command.LESSON,
    Command.NEXT,
    Command.BACK,
    Command.WHERE,
    Command.EXAMPLE,
    Command.QUIZ,
    Command.GROUP,
    Command.CARDS,
    Command.REVIEW,
    Command.CAP,
    Command.PLACEMENT,
    Command.PROGRESS,
    Command.MYTHS,
    Command.EXERCISE,
    Command.EXPLORE,
    Command.RUN,
    Command.TIME,
    Command.CANCEL,
    Command.ATTEMPTS,
    Command.BOARD,
    Command.MACHINE,
    Command.REMIND,
    Command.LINK,
    Command.PRIVACY,
    Command.EXPORT,
    Command.DELETE,
)


def greeted(moment: Moment) -> Turn:
    """Greet: what this is, and where to begin or go on."""
    words = moment.words
    lesson = moment.here()
    if lesson is None:
        return moment.turn(*said(Paragraph(words.say("greeting.hello")), Paragraph(words.say("map.empty"))))
    place = course_map.resume(moment, lesson)
    known = moment.session.greeted and moment.session.place is not None
    begin = Choice(words.text("button.go_on_reading" if known else "button.begin_first"), course_map.go(place))
    greeting = Paragraph(words.say("greeting.again" if known else "greeting.hello"))
    rest = () if known else (Paragraph(words.say("greeting.what")), Paragraph(words.say("greeting.code")))
    return moment.changed(greeted=True).turn(
        *said(
            greeting,
            *rest,
            *buttons(
                begin,
                presses.go_on_with_series(moment),
                *((presses.command(moment, each) for each in (Command.REVIEW, Command.PROGRESS)) if known else ()),
                presses.command(moment, Command.MAP),
                presses.command(moment, Command.HELP),
            ),
        )
    )


def helped(moment: Moment) -> Turn:
    """List what can be asked for."""
    words = moment.words
    items = tuple((Code(f"/{command}"), Text(" "), *words.say(f"help.{command}")) for command in _LISTED)
    return moment.turn(
        *said(
            Heading(words.say("help.title")),
            Bullets(items),
            Paragraph(words.say("help.code")),
            Paragraph(words.say("help.ask")),
            *buttons(presses.command(moment, Command.MAP), presses.command(moment, Command.WHERE), columns=2),
        )
    )


def located(moment: Moment) -> Turn:
    """Say where the learner is: stop, series, runs."""
    words = moment.words
    lesson = moment.here()
    place = moment.session.place
    if lesson is None:
        return moment.turn(*course_map.course_map(moment))
    if place is None:
        at: tuple[Block, ...] = (Paragraph(words.say("where.nowhere")),)
    elif place in course_map.stops(lesson):
        step = course_map.step_of(moment, lesson, place)
        title = course_map.title(moment, lesson, place)
        at = (Paragraph(words.say("where.at", lesson=inline(lesson.title), stop=title, step=step)),)
    else:
        at = (Paragraph(words.say("where.in_lesson", lesson=inline(lesson.title))),)
    go_on = Choice(words.text("button.go_on_reading"), course_map.go(course_map.resume(moment, lesson)))
    choices = buttons(go_on, presses.go_on_with_series(moment), presses.command(moment, Command.MAP))
    return moment.turn(*said(*at, *_under_way(moment), *choices))


def machine(moment: Moment) -> Turn:
    """Say what runs code here, as the runner told it at connect."""
    able = moment.known.capabilities
    words = moment.words
    if able is None:
        return moment.turn(*said(Paragraph(words.say("machine.none"))))
    devices = ", ".join(device.value for device in able.devices) or "-"
    walls = sum(wall.stands for wall in able.walls)
    items = (
        words.say("machine.devices", devices=Code(devices)),
        *((words.say("machine.gpus", n=able.device_count),) if able.device_count > 1 else ()),
        words.say("machine.slots", n=able.slots),
        *((words.say("machine.noise", noise=Number(percent(able.noise))),) if able.noise > 0 else ()),
        *((words.say("machine.walls", stand=walls, total=len(able.walls)),) if able.walls else ()),
        *_missing(moment, able),
    )
    head = Paragraph((*words.say("machine.intro"), Text(" "), *machine_line(moment, able.machine)))
    return moment.turn(*said(head, Bullets(items), Paragraph(words.say("machine.why"))))


def odd(moment: Moment, kind: str) -> Turn:
    """Say that something of this kind cannot be read here, and what can."""
    words = moment.words
    key = f"odd.{kind}"
    return moment.turn(*said(Paragraph(words.say(key if words.has(key) else "odd.other"))))


def _under_way(moment: Moment) -> tuple[Block, ...]:
    words = moment.words
    series, running = moment.session.series, moment.session.running
    blocks: list[Block] = []
    if series and series.ahead:
        name = words.say(f"series.{series.kind}")
        blocks.append(Paragraph(words.say("where.series", series=name, done=series.done, total=total(series))))
    if running:
        blocks.append(Paragraph(words.say("where.running", n=len(running))))
    return tuple(blocks)


def _missing(moment: Moment, able: Capabilities) -> tuple[Spans, ...]:
    if not able.accepted_missing:
        return ()
    named = Code(", ".join(able.accepted_missing)[:200])
    return (moment.words.say("machine.missing", walls=named),)
