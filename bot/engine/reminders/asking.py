"""The learner's wishes, asked for by buttons or typed: on and off, hour, zone, quiet hours, days off.

Law: what is no zone or no hour is refused by name and changes nothing. A panel is one reply, edited under the slot that
its buttons carry.
"""

from babel.dates import get_day_names

from bot.engine import asks
from bot.engine.bubbles import buttons, said
from bot.engine.buttons import Button, Op, encode
from bot.engine.effects import Edit, Effect, Say, Turn
from bot.engine.expects import WHEN, Expects
from bot.engine.letters import fold, plain_digits, stripped
from bot.engine.moment import Moment
from bot.engine.reminders import clock, schedule, zones
from bot.engine.reminders.digests import kept
from bot.engine.reminders.wishes import Wishes
from bot.engine.replies import Block, Bullets, Choice, Code, Number, Paragraph, Reply, Spans, Text

_HOURS = tuple(hour * 60 for hour in (6, 7, 8, 9, 10, 12, 14, 16, 17, 18, 20, 21))
_QUIET = ((22 * 60, 8 * 60), (23 * 60, 7 * 60), (21 * 60, 9 * 60), (0, 0))
_ON = frozenset(fold(word) for word in ("on", "تشغيل", "تفعيل", "نعم"))
_OFF = frozenset(fold(word) for word in ("off", "stop", "no", "إيقاف", "أوقف", "تعطيل", "إلغاء", "لا"))
_ECHO = 40
_MOST_WORDS = 3
"""Words of the longest city; what is longer is a question, not a zone."""
_PARTS = ("hour", "zone", "quiet", "days")


def asked(moment: Moment, argument: str = "") -> Turn:
    """Show the wishes, or do what stands behind the command: `off`, `18:30`, `Asia/Riyadh`, `22:00-07:00`."""
    wishes = _wishes(moment)
    argument = stripped(argument).strip()
    if not argument:
        return _shown(moment, wishes)
    if fold(argument) in _OFF:
        return _changed(moment, wishes.with_(reminders=False))
    if fold(argument) in _ON:
        return _switched_on(moment, wishes, "")
    changed = _read(wishes, argument)
    if changed is None:
        return _refused(moment, argument)
    return _set(moment, changed.with_(reminders=bool(changed.zone)), "")  # who names an hour wants to be reminded


def pressed(moment: Moment, button: Button) -> Turn:
    """Answer a button of the panel, or the one that turns reminders off."""
    what, _, slot = button.ref.partition(".")
    wishes = _wishes(moment)
    slot = f"{WHEN}{slot}" if slot else ""
    match what, button.option:
        case "off", _:
            return _changed(moment, wishes.with_(reminders=False), slot)
        case "on", _:
            return _switched_on(moment, wishes, slot)
        case "show", _:
            return _shown(moment, wishes, slot)
        case part, "" if part in _PARTS:
            return _part(moment, wishes, part, slot)
        case "days", option:
            return _day_off(moment, wishes, option, slot)
        case part, option if part in _PARTS:
            value = option.replace(".", "/") if part == "zone" else option.replace(".", ":")
            changed = _read(wishes, value)
            return asks.refused(moment, "button.outdated") if changed is None else _set(moment, changed, slot)
        case _:
            return asks.refused(moment, "button.outdated")


def typed(moment: Moment, text: str) -> Turn | None:
    """Take a typed zone, hour or span of quiet hours; None when the text is none and looks like none."""
    text = stripped(text).strip()
    wishes = _wishes(moment)
    changed = _read(wishes, text)
    if changed is not None:
        return _set(moment, changed, "")
    looks = "/" in text or any(each.isdigit() for each in plain_digits(text)) or len(text.split()) == 1
    return _refused(moment, text) if looks and len(text.split()) <= _MOST_WORDS and len(text) <= 2 * _ECHO else None


def _wishes(moment: Moment) -> Wishes:
    return moment.known.wishes or Wishes()


def _read(wishes: Wishes, text: str) -> Wishes | None:
    """Give the wishes with what a text names; a zone named for the first time turns reminders on."""
    minute, span, zone = clock.read(text), clock.read_span(text), zones.find(text)
    if minute is not None:
        return wishes.with_(minute=minute)
    if span is not None:
        return wishes.with_(quiet_from=span[0], quiet_to=span[1])
    if zone:
        return wishes.with_(zone=zone, reminders=wishes.reminders or not wishes.zone)
    return None


def _set(moment: Moment, wishes: Wishes, slot: str) -> Turn:
    """Keep the wishes, unless the hour would fall into the quiet hours; without a zone, ask for it next."""
    if schedule.in_quiet(wishes, wishes.minute):
        note = moment.words.say(
            "remind.in_quiet",
            hour=Number(clock.shown(wishes.minute)),
            begin=Number(clock.shown(wishes.quiet_from)),
            end=Number(clock.shown(wishes.quiet_to)),
        )
        again = (_choice(moment, "hour", "", slot), _choice(moment, "quiet", "", slot))
        return moment.turn(*said(Paragraph(note), *buttons(*again, columns=2)))
    if not wishes.zone:
        asked_for = _part(moment, wishes, "zone", slot)
        return Turn(asked_for.session, (kept(moment, wishes, wishes.last_day), *asked_for.effects))
    return _changed(moment, wishes, slot)


def _changed(moment: Moment, wishes: Wishes, slot: str = "") -> Turn:
    before = _wishes(moment)
    moment = moment.changed(expects=Expects.NOTHING.value)
    row = kept(moment, wishes, before.last_day)
    wishes = wishes.with_(next_at=schedule.next_at(wishes, moment.now))
    return moment.turn(row, _say(moment, wishes, slot))


def _switched_on(moment: Moment, wishes: Wishes, slot: str) -> Turn:
    if not wishes.zone:
        return _part(moment, wishes, "zone", slot)
    return _changed(moment, wishes.with_(reminders=True), slot)


def _day_off(moment: Moment, wishes: Wishes, option: str, slot: str) -> Turn:
    day, _, state = option.partition(".")
    if day not in tuple("0123456") or state not in {"on", "off"}:
        return asks.refused(moment, "button.outdated")
    without = tuple(each for each in wishes.off if each != int(day))
    wishes = wishes.with_(off=tuple(sorted((*without, int(day)))) if state == "off" else without)
    row = kept(moment, wishes, wishes.last_day)
    return moment.turn(row, *_part(moment, wishes, "days", slot).effects)


def _refused(moment: Moment, text: str) -> Turn:
    words = moment.words
    near = zones.near(text)
    note = words.say("remind.unknown", text=Code(text[:_ECHO]))
    choices = (Choice(zones.city(zone), _payload("zone", _as_option(zone), "")) for zone in near if _fits(zone))
    how = Paragraph(words.say("remind.near" if near else "remind.how"))
    return moment.turn(*said(Paragraph(note), how, *buttons(*choices, _choice(moment, "zone", "", ""))))


# --- what is shown ----------------------------------------------------------------------------------------------------


def _shown(moment: Moment, wishes: Wishes, slot: str = "") -> Turn:
    return moment.changed(expects=Expects.NOTHING.value).turn(_say(moment, wishes, slot))


def _say(moment: Moment, wishes: Wishes, slot: str) -> Effect:
    edits = bool(slot)
    slot = slot or f"{WHEN}{moment.dice.identity()}"
    reply = Reply((*_state(moment, wishes), *_controls(moment, wishes, slot)))
    return Edit(slot, reply) if edits else Say(reply, slot)


def _state(moment: Moment, wishes: Wishes) -> tuple[Block, ...]:
    words = moment.words
    if not wishes.reminders:
        return Paragraph(words.say("remind.is_off")), Paragraph(words.say("remind.what"))
    hour = Number(clock.shown(wishes.minute))
    about = (
        words.say("remind.zone", city=zones.city(wishes.zone), zone=Code(wishes.zone)),
        _quiet_worded(moment, wishes),
        words.say("remind.days_off", days=_days(wishes)) if wishes.off else words.say("remind.no_days_off"),
    )
    return Paragraph(words.say("remind.is_on", hour=hour)), Bullets(about), Paragraph(_next(moment, wishes))


def _next(moment: Moment, wishes: Wishes) -> Spans:
    words = moment.words
    if wishes.next_at is None:
        return words.say("remind.none_next")
    local = zones.local(wishes.next_at, wishes.zone)
    names = get_day_names("wide", locale="ar")
    day, hour = Text(names[local.weekday()]), Number(f"{local:%Y-%m-%d}، {local:%H:%M}".replace("،", ""))
    return words.say("remind.next", day=day, at=hour)


def _quiet_worded(moment: Moment, wishes: Wishes) -> Spans:
    if wishes.quiet_from == wishes.quiet_to:
        return moment.words.say("remind.no_quiet")
    begin, end = Number(clock.shown(wishes.quiet_from)), Number(clock.shown(wishes.quiet_to))
    return moment.words.say("remind.quiet", begin=begin, end=end)


def _days(wishes: Wishes) -> Spans:
    names = get_day_names("wide", locale="ar")
    return (Text("، ".join(names[day] for day in wishes.off)),)


def _controls(moment: Moment, wishes: Wishes, slot: str) -> tuple[Block, ...]:
    if not wishes.reminders:
        return buttons(_choice(moment, "on", "", slot))
    changes = tuple(_choice(moment, part, "", slot) for part in _PARTS)
    return (*buttons(*changes, columns=2), *buttons(_choice(moment, "off", "", slot)))


def _part(moment: Moment, wishes: Wishes, part: str, slot: str) -> Turn:
    """Show the choices of one wish, in the panel's place; what is typed next is read as that wish."""
    words = moment.words
    edits = bool(slot)
    slot = slot or f"{WHEN}{moment.dice.identity()}"
    choices: tuple[Choice, ...]
    match part:
        case "hour":
            fitting = [minute for minute in _HOURS if not schedule.in_quiet(wishes, minute)]
            choices = tuple(_option(part, clock.shown(minute), clock.shown(minute), slot) for minute in fitting)
        case "zone":
            choices = tuple(_option(part, zones.city(zone), zone, slot) for zone in zones.COMMON)
        case "quiet":
            choices = tuple(_option(part, _span_label(moment, span), _span(span), slot) for span in _QUIET)
        case _:
            choices = tuple(_day(moment, wishes, day, slot) for day in (5, 6, 0, 1, 2, 3, 4))
    reply = Reply(
        (
            Paragraph(words.say(f"remind.ask_{part}")),
            *buttons(*choices, columns=2 if part == "quiet" else 3),
            *buttons(_choice(moment, "show", "", slot)),
        )
    )
    if part != "days":
        moment = moment.changed(expects=slot[:40])
    return moment.turn(Edit(slot, reply) if edits else Say(reply, slot))


def _day(moment: Moment, wishes: Wishes, day: int, slot: str) -> Choice:
    name = str(get_day_names("wide", locale="ar")[day])
    if day in wishes.off:
        return Choice(moment.words.text("remind.day_off", day=name), _payload("days", f"{day}.on", slot))
    return Choice(name, _payload("days", f"{day}.off", slot))


def _span(span: tuple[int, int]) -> str:
    return f"{clock.shown(span[0])}-{clock.shown(span[1])}"


def _span_label(moment: Moment, span: tuple[int, int]) -> str:
    if span[0] == span[1]:
        return moment.words.text("remind.no_quiet")
    return moment.words.text("remind.from_to", begin=Number(clock.shown(span[0])), end=Number(clock.shown(span[1])))


def _choice(moment: Moment, what: str, option: str, slot: str) -> Choice:
    return Choice(moment.words.text(f"button.remind_{what}"), _payload(what, option, slot))


def _option(part: str, label: str, value: str, slot: str) -> Choice:
    return Choice(label, _payload(part, _as_option(value), slot))


def _payload(what: str, option: str, slot: str) -> str:
    return encode(Op.REMIND, f"{what}.{slot.removeprefix(WHEN)}", option)


def _as_option(value: str) -> str:
    return value.replace("/", ".").replace(":", ".")


def _fits(zone: str) -> bool:
    """Tell whether a zone can stand in a button: `+` is not in the grammar of payloads."""
    return "+" not in zone and "." not in zone
