"""Code that was sent: read by intake, parsed by the limited child, then run, or repaired after a tap, or explained.

Law: nothing of a learner's code is run before the child has parsed it, and no repair without consent. An answer of the
child for anything but the code that waits is dropped.
"""

import difflib
import re
import unicodedata
from dataclasses import replace
from typing import assert_never

from bot.engine import devices, exercises, presses, runs, tasks, writing
from bot.engine.bubbles import buttons, said
from bot.engine.buttons import Op, encode
from bot.engine.commands import Command
from bot.engine.effects import CheckCode, Effect, Turn
from bot.engine.events import CodeChecked, CodeSent, FileSent, SyntaxTrouble
from bot.engine.expects import Expects
from bot.engine.intake import reading as intake
from bot.engine.intake.types import Code, Intake, NotCode, Notice, Refused, Traceback, Values
from bot.engine.moment import Moment
from bot.engine.purposes import Asked, Why
from bot.engine.replies import Bullets, Choice, CodeBlock, Number, Paragraph, Spans, Text
from bot.engine.replies import Code as CodeSpan
from bot.engine.session import PendingCode
from sandbox_runner.protocol import Budget, Device, JobKind

_CELL = re.compile(r"^#\s?%%(.*)$", re.MULTILINE)
_SETUP = {"setup", "set-up", "set up", "إعداد", "الإعداد", "اعداد", "تهيئة", "التهيئة"}
"""Names by which a first cell is the set-up, as in the harness."""
_TWO_VARIANTS = 2
_DIFF_LINES = 2000
"""Lines beyond which two sources are compared line by line only."""
_DIFF_SHOWN = 60
_WIDE = 160
"""Characters of a line with a fault that are shown around it."""
_MOST_NOTICES = 6
_LONGEST_COUNT = 12


def sent_by_editor(moment: Moment, event: CodeSent) -> Turn:
    """Take code from a way made for code."""
    return taken(moment, intake.read_code(event.source, event.filename), measure=event.measure)


def sent_as_file(moment: Moment, event: FileSent) -> Turn:
    """Take an uploaded file."""
    return taken(moment, intake.read_file(event.name, event.data), measure=False)


def taken(moment: Moment, found: Intake, *, measure: bool) -> Turn:
    """Go on with what intake found."""
    words = moment.words
    match found:
        case Code():
            return _to_be_checked(moment, found, measure=measure or moment.session.expects == Expects.TIME)
        case Traceback(last_line):
            line = (CodeBlock(last_line[:300], "pytb"),) if last_line else ()
            return moment.turn(*said(*line, Paragraph(words.say("code.traceback"))))
        case Refused(reason, values):
            return moment.turn(*said(Paragraph(words.say(f"refused.{reason}", **_figures(values)))))
        case NotCode():
            return moment.turn(*said(Paragraph(words.say("code.none"))))
        case never:
            assert_never(never)


def checked(moment: Moment, event: CodeChecked) -> Turn:
    """Take the limited child's answer: run, offer the repair, or show where the fault is."""
    pending = moment.session.pending
    if pending is None or pending.check != event.check or pending.offered:
        return moment.turn()
    if event.index is None or not 0 <= event.index < len(pending.candidates):
        return _explained(moment.changed(pending=None), event.trouble)
    if event.index == 0:
        return _run(moment, pending, pending.candidates[0])
    return _offered(moment, pending, pending.candidates[event.index])


def decided(moment: Moment, check: str, option: str) -> Turn:
    """Take consent to a repair, or its refusal; also the way to send code again that no runner could take."""
    pending = moment.session.pending
    if pending is None or pending.check != check or not pending.offered:
        return moment.turn(*said(Paragraph(moment.words.say("code.offer_gone"))))
    if pending.choosing and option in set(Device):
        return _run(moment, pending, pending.candidates[-1], Device(option))
    if option == "yes" and not pending.choosing:
        return _run(moment, pending, pending.candidates[-1])
    told = "code.not_run" if pending.choosing else "code.refused_repair"
    return moment.changed(pending=None).turn(*said(Paragraph(moment.words.say(told))))


def _to_be_checked(moment: Moment, found: Code, *, measure: bool) -> Turn:
    check = moment.dice.identity()
    sources = tuple(candidate.source for candidate in found.candidates)
    pending = PendingCode(check, sources, found.filename[:60], measure)
    items = tuple(_notice(moment, notice) for notice in found.notices[:_MOST_NOTICES])
    told = said(Bullets(items)) if items else ()
    return moment.changed(pending=pending).turn(*told, CheckCode(check, sources))


def _run(moment: Moment, pending: PendingCode, source: str, device: Device | None = None) -> Turn:
    asked = _asked(moment, pending, source)
    free = asked.kind in {JobKind.RUN, JobKind.TIME} and asked.purpose.why is not Why.ITEM
    if device is None and free and moment.known.capabilities and devices.named(source):
        waiting = PendingCode(pending.check, (source,), pending.filename, pending.measure, offered=True, choosing=True)
        return moment.changed(pending=waiting).turn(*said(*devices.offered(moment, pending.check)))
    asked = asked if device is None else replace(asked, devices=(device,))
    retry = Choice("", encode(Op.ACCEPT, pending.check, device.value if device else "yes"))
    instead = Choice(moment.words.text("button.on_cpu"), encode(Op.ACCEPT, pending.check, Device.CPU.value))
    turn = runs.started(moment, asked, retry, instead)
    if len(turn.session.running) == len(moment.session.running):
        # Not taken: the code stays at hand, so that the button can send it again.
        choosing = device is not None
        kept = PendingCode(pending.check, (source,), pending.filename, pending.measure, offered=True, choosing=choosing)
        return Turn(turn.session.with_(pending=kept), turn.effects)
    expects = turn.session.expects
    expects = Expects.NOTHING.value if expects in {Expects.TIME, Expects.RUN} else expects
    return Turn(turn.session.with_(pending=None, expects=expects), turn.effects)


def _asked(moment: Moment, pending: PendingCode, source: str) -> Asked:
    """Say what becomes of code: a submission, an answer to the open question, a measurement, or a plain run."""
    cells = variants(source) >= _TWO_VARIANTS or intake.asks_to_time(source)
    purpose = exercises.purpose(moment)
    if purpose.item and not cells and tasks.solves(source):
        graded = tasks.graded(moment, purpose.item, source, pending.filename, Budget.DEFAULT)
        if graded:
            return graded
    answer = None if pending.measure else writing.to_run(moment, source)
    if answer:
        return Asked(answer[0], JobKind.RUN, answer[1], pending.filename)
    return Asked(source, JobKind.TIME if pending.measure or cells else JobKind.RUN, purpose, pending.filename)


def variants(source: str) -> int:
    """Count the variants of a source by its cell marks, as the harness does: the first cell is the set-up."""
    marks = list(_CELL.finditer(source))
    if not marks:
        return 0
    head = (line.strip() for line in source[: marks[0].start()].splitlines())
    own_setup = any(line and not line.startswith("#") for line in head)
    named = marks[0].group(1).strip().lower() in _SETUP
    return len(marks) if own_setup and not named else len(marks) - 1


def _offered(moment: Moment, pending: PendingCode, repaired: str) -> Turn:
    words = moment.words
    offer = PendingCode(
        pending.check, (pending.candidates[0], repaired), pending.filename, pending.measure, offered=True
    )
    yes = Choice(words.text("button.accept_repair"), encode(Op.ACCEPT, pending.check, "yes"))
    no = Choice(words.text("button.refuse_repair"), encode(Op.ACCEPT, pending.check, "no"))
    shown, kinds = drawn(diff(pending.candidates[0], repaired))
    named = tuple(Paragraph(words.say(f"code.drawn_{kind}")) for kind in kinds)
    difference = CodeBlock(shown, "diff", words.text("code.difference"))
    effects = said(Paragraph(words.say("code.repair")), difference, *named, *buttons(yes, no, columns=2))
    return moment.changed(pending=offer).turn(*effects)


def diff(before: str, after: str) -> str:
    """Give the lines that differ, as a unified diff without its head."""
    old, new = before.splitlines(), after.splitlines()
    if len(old) + len(new) <= _DIFF_LINES:
        lines = list(difflib.unified_diff(old, new, n=1, lineterm=""))[2:]
    else:
        pairs = ((a, b) for a, b in zip(old, new, strict=False) if a != b)
        lines = [part for a, b in pairs for part in (f"-{a}", f"+{b}")]
    shown = [line[:_WIDE] for line in lines[:_DIFF_SHOWN]]
    return "\n".join((*shown, "…") if len(lines) > _DIFF_SHOWN else shown)


def drawn(difference: str) -> tuple[str, tuple[str, ...]]:
    """Draw in the lines that differ what nobody would see; give the text and which kinds of marks were drawn."""
    lines: list[str] = []
    kinds: dict[str, None] = {}
    for line in difference.split("\n"):
        if not line.startswith(("-", "+")):
            lines.append(line)
            continue
        seen = [_sight(char) for char in line]
        kinds.update((kind, None) for _, kind in seen if kind)
        lines.append("".join(char for char, _ in seen))
    return "\n".join(lines), tuple(kinds)


def _sight(char: str) -> tuple[str, str]:
    if char == "\t":
        return "→", "tab"
    category = unicodedata.category(char)
    if category in {"Zs", "Zl", "Zp"} and char != " ":
        return "␣", "space"
    return ("◌", "mark") if category in {"Cf", "Cc"} else (char, "")


def _explained(moment: Moment, trouble: SyntaxTrouble | None) -> Turn:
    words = moment.words
    if trouble is None:
        return moment.turn(*said(Paragraph(words.say("code.unparsed"))))
    key = f"syntax.{trouble.code}"
    sentence = words.say(key if words.has(key) else "syntax.invalid_syntax")
    where = words.say("code.where", line=trouble.line, column=trouble.column)
    return moment.turn(
        *said(
            Paragraph((*where, Text(" "), *sentence)),
            CodeBlock(_caret(trouble), "text", words.text("code.line", line=trouble.line)),
            Paragraph(words.say("code.send_again")),
            *buttons(presses.command(moment, Command.HELP)),
        )
    )


def _caret(trouble: SyntaxTrouble) -> str:
    """Give the line with a caret under the column, cut around it where it is long."""
    start = max(0, trouble.column - _WIDE // 2) if len(trouble.text) > _WIDE else 0
    line = trouble.text.rstrip("\r\n")[start : start + _WIDE].replace("\t", " ")
    at = max(0, min(trouble.column - 1 - start, len(line)))
    return f"{line}\n{' ' * at}^"


def _notice(moment: Moment, notice: Notice) -> Spans:
    words = moment.words
    said_of = words.say(f"notice.{notice.kind}", **_figures(notice.values))
    line = words.say("flag.line", line=notice.line) if notice.line is not None else ()
    return (*said_of, *((Text(" "), *line) if line else ()))


def _figures(values: Values) -> dict[str, CodeSpan | Number]:
    """Give intake's values as code spans, for they echo what was sent; counts as numbers."""
    return {name: Number(f"{int(value):,}") if _is_count(value) else CodeSpan(value[:80]) for name, value in values}


def _is_count(value: str) -> bool:
    return value.isascii() and value.isdigit() and len(value) <= _LONGEST_COUNT


def cancelled(moment: Moment) -> tuple[Moment, tuple[Effect, ...]]:
    """Forget the code that waits for the learner."""
    if moment.session.pending is None:
        return moment, ()
    return moment.changed(pending=None), said(Paragraph(moment.words.say("code.dropped")))
