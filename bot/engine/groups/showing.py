"""How a group's quiz is shown: the question with buttons for everybody, what it came to, and the board of names.

Law: while a question is open nothing says how anybody answered, only how many did. Equal points are an equal place;
names stand in the board alone, so that what is said there can be taken back with a name.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from bot.engine import buttons as payloads
from bot.engine.bubbles import buttons, paragraphs
from bot.engine.buttons import Op, encode
from bot.engine.groups.quiz import Points, Quiz
from bot.engine.letters import fold
from bot.engine.moment import Moment
from bot.engine.quizzes import items
from bot.engine.quizzes.grades import Verdict
from bot.engine.reading import code_shown
from bot.engine.replies import Block, Bullets, Choice, Heading, Number, Paragraph, Reply, Spans, Strong, Text
from bot.engine.wording import inline
from content.schema import Lesson, SingleChoice, TrueFalse

CLOSE, NEXT, END, BOARD = "_close", "_next", "_end", "_board"
"""Options that no id can be: for whoever began the quiz or an admin, and the board for everybody."""
CONTROLS = frozenset({CLOSE, NEXT, END, BOARD})
LINES = 20
"""Lines of a board; how many more there are is said."""

Asked = SingleChoice | TrueFalse
"""Items that one press answers whole."""


def post(quiz: Quiz) -> str:
    """Give the slot of the question at hand."""
    return f"group:{quiz.ask}"


def told(quiz: Quiz) -> str:
    """Give the slot of what the question at hand came to."""
    return f"group:{quiz.ask}:told"


def board_of(quiz: Quiz) -> str:
    """Give the slot of the board as it stands now: one a question."""
    return f"group:{quiz.id}:board:{quiz.done + (1 if quiz.over else 0)}"


def rules(moment: Moment, quiz: Quiz, lesson: Lesson | None) -> tuple[Block, ...]:
    """Say what begins, and how it goes."""
    words = moment.words
    whence = words.say("group.of_lesson", lesson=inline(lesson.title)) if lesson else words.say("group.of_course")
    most = (Paragraph(words.say("group.rule_most", n=quiz.most)),) if quiz.most else ()
    return (
        Heading(words.say("group.begun", n=quiz.total)),
        Paragraph(whence),
        Paragraph(words.say("group.rules")),
        Paragraph(words.say("group.rule_seconds", n=quiz.seconds)),
        *most,
    )


def question(moment: Moment, quiz: Quiz, lesson: Lesson, item: Asked, answered: int) -> Reply:
    """Give the open question."""
    words = moment.words
    listed, choices = items.ask(item, quiz.options, quiz.ask, (), words)
    mine = tuple(_for_all(choice) for choice in choices)
    controls = (_control(moment, quiz, "button.group_close", CLOSE), _control(moment, quiz, "button.group_end", END))
    count = Paragraph(words.say("group.answered", n=answered))
    return Reply((*_head(moment, quiz, lesson, item), *listed, count, *buttons(*mine), *buttons(*controls, columns=2)))


def closed(moment: Moment, quiz: Quiz, lesson: Lesson, item: Asked, counts: Mapping[str, int]) -> Reply:
    """Give the question after its end: what is right, and how many chose what."""
    words = moment.words
    lines = tuple(
        (Text("✓ " if right else "✗ "), *text, Text(" — "), *words.say("group.chosen", n=counts.get(name, 0)))
        for name, text, right, _ in _options(moment, quiz, item)
    )
    return Reply((*_head(moment, quiz, lesson, item), Bullets(lines)))


def withdrawn(moment: Moment, quiz: Quiz, lesson: Lesson, item: Asked) -> Reply:
    """Give a question that was open when the quiz was ended: without an answer, without buttons."""
    return Reply((*_head(moment, quiz, lesson, item), Paragraph(moment.words.say("group.withdrawn"))))


def came_to(moment: Moment, quiz: Quiz, item: Asked, counts: Mapping[str, int], pause_s: int = 0) -> Reply:
    """Give the right answer with its reasons; while it goes on in some seconds, the way on stands under it."""
    words = moment.words
    many = sum(counts.values())
    right = sum(counts.get(name, 0) for name, _, right, _ in _options(moment, quiz, item) if right)
    how = words.say("group.right_of", done=right, total=many) if many else words.say("group.nobody")
    notes = tuple(
        (Text("✗ "), *text, Text(" — "), *inline(feedback))
        for name, text, right, feedback in _options(moment, quiz, item)
        if not right and counts.get(name) and feedback
    )
    soon = words.say("group.result_soon" if quiz.last else "group.next_soon", n=pause_s)
    on = _control(moment, quiz, "button.group_last" if quiz.last else "button.group_next", NEXT)
    controls = (
        on,
        _control(moment, quiz, "button.group_board", BOARD),
        _control(moment, quiz, "button.group_end", END),
    )
    way_on: tuple[Block, ...] = (Paragraph(soon), *buttons(*controls, columns=2)) if pause_s else ()
    wrong: tuple[Block, ...] = (Bullets(notes),) if notes else ()
    right_one = items.solution(item, words.say("quiz.solution"), words)
    return Reply((*right_one, *paragraphs(item.explanation), *wrong, Paragraph(how), *way_on))


def board(moment: Moment, quiz: Quiz, points: Sequence[Points]) -> tuple[Block, ...]:
    """Give the names with their points, the most first."""
    words = moment.words
    key = "group.board_final" if quiz.over else "group.board_so_far"
    asked = quiz.done if quiz.over or not quiz.open else quiz.done - 1
    title = Heading(words.say(key, done=asked, total=quiz.total))
    ranked = list(_ranked(moment, points))
    if not ranked:
        return (title, Paragraph(words.say("group.board_empty")))
    lines = tuple(
        words.say("group.board_line", rank=Number(f"{rank}."), name=Strong(name), points=_points(moment, one.points))
        for rank, name, one in ranked[:LINES]
    )
    more = len(ranked) - LINES
    tied = len({rank for rank, _, _ in ranked}) < len(ranked)
    return (
        title,
        Bullets(lines),
        *((Paragraph(words.say("group.board_more", n=more)),) if more > 0 else ()),
        *((Paragraph(words.say("group.board_ties")),) if tied else ()),
    )


def _ranked(moment: Moment, points: Sequence[Points]) -> Iterator[tuple[int, str, Points]]:
    """Give places: equal points share one, and the next is as far on as there are names before it."""
    nameless = moment.words.text("group.nameless")
    rows = sorted(
        ((replace(one, name=one.name or nameless)) for one in points), key=lambda one: (-one.points, fold(one.name))
    )
    seen: dict[str, int] = {}
    rank = 0
    for at, one in enumerate(rows, 1):
        rank = rank if at > 1 and rows[at - 2].points == one.points else at
        seen[one.name] = seen.get(one.name, 0) + 1
        yield rank, one.name if seen[one.name] == 1 else f"{one.name} ({seen[one.name]})", one


def _points(moment: Moment, many: int) -> Spans:
    return moment.words.say("group.points", n=many)


def _head(moment: Moment, quiz: Quiz, lesson: Lesson, item: Asked) -> tuple[Block, ...]:
    step = moment.words.say("group.question", done=quiz.done, total=quiz.total)
    code = code_shown(moment, lesson, item.code) if item.code else ()
    return (Heading(step), *paragraphs(item.question), *code)


def _options(moment: Moment, quiz: Quiz, item: Asked) -> Iterator[tuple[str, Spans, bool, str]]:
    """Give the options in the order shown: id, text, whether right, and the course's word on it."""
    for name in quiz.options:
        grade = items.grade(item, name)
        if isinstance(item, TrueFalse):
            text: Spans = (Text(moment.words.text(f"choice.{name}")),)
        else:
            text = next((inline(option.text) for option in item.options if option.id == name), ())
        yield name, text, grade.verdict is Verdict.RIGHT, grade.feedback


def _for_all(choice: Choice) -> Choice:
    """Give the button of an option as one that everybody may press."""
    button = payloads.parse(choice.payload)
    return choice if button is None else Choice(choice.label, encode(Op.GROUP, button.ref, button.option))


def _control(moment: Moment, quiz: Quiz, key: str, option: str) -> Choice:
    return Choice(moment.words.text(key), encode(Op.GROUP, quiz.ask, option))
