"""The settings of an explorer with several of them: read, kept in the session, offered as buttons.

Law: a setting that is out of its bounds is refused by name and changes nothing; a number alone sets the dial at hand,
`name=value` any dial.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bot.engine.buttons import Op, encode
from bot.engine.figures import digits, raised
from bot.engine.letters import figure, plain_digits, stripped
from bot.engine.moment import Moment
from bot.engine.replies import Block, Bullets, Choice, Code, Number, Paragraph, Spans
from bot.engine.session import Played
from content.schema import Lesson

_PAIR = re.compile(r"([a-z]{1,8})=(\S+)")
_MOST_KEPT = 32
"""Explorers whose settings are kept; the oldest is forgotten beyond that."""
_LONGEST = 80
"""Characters beyond which a text is no setting."""


@dataclass(frozen=True, slots=True)
class Dial:
    """One setting: its symbol, the values offered (as they go into a payload), its bounds, and its unit."""

    name: str
    offers: tuple[str, ...]
    start: float
    low: float
    high: float
    unit: str = ""
    whole: bool = False
    powers: bool = False
    """whether every value offered is a power of two, and shown as one"""

    def shown(self, value: float) -> str:
        """Give a value with its unit, whole numbers written out."""
        written = f"{value:,.0f}" if value == int(value) else digits(value, 15)
        return f"{written} {self.unit}".rstrip()

    def label(self, offer: str) -> str:
        """Give the label of an offered value."""
        value = float(offer)
        if self.powers and value > 1:
            return raised(math.frexp(value)[1] - 1)
        return self.shown(value)


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the dials of a lesson's explorer stand, and which one is at hand."""

    dials: tuple[Dial, ...]
    values: tuple[float, ...]
    at: int = 0

    @property
    def by_name(self) -> Mapping[str, float]:
        """The values by the dials' symbols."""
        return {dial.name: value for dial, value in zip(self.dials, self.values, strict=True)}


def standing(moment: Moment, lesson: Lesson, dials: tuple[Dial, ...]) -> Settings:
    """Give the settings as they were left; those the dials begin with where nothing that fits them was."""
    left = next((each for each in moment.session.played if each.lesson == lesson.slug), None)
    if left and len(left.values) == len(dials) and all(map(_fits, dials, left.values)) and 0 <= left.at < len(dials):
        return Settings(dials, left.values, left.at)
    return Settings(dials, tuple(float(dial.start) for dial in dials))


def kept(moment: Moment, lesson: Lesson, settings: Settings) -> Moment:
    """Keep the settings in the session."""
    others = tuple(each for each in moment.session.played if each.lesson != lesson.slug)
    mine = Played(lesson.slug, settings.values, settings.at)
    return moment.changed(played=(*others, mine)[-_MOST_KEPT:])


def read(settings: Settings, text: str) -> Mapping[str, str] | None:
    """Read a typed text as values by dial; None when it is none."""
    plain = re.sub(r"\s*=\s*", "=", plain_digits(stripped(text)).strip())
    if len(plain) > _LONGEST:
        return None
    pairs = [_PAIR.fullmatch(part.strip("،,;").casefold()) for part in plain.split()]
    known = {dial.name for dial in settings.dials}
    if pairs and all(pair and pair.group(1) in known for pair in pairs):
        return {pair.group(1): pair.group(2) for pair in pairs if pair}
    dial = settings.dials[settings.at]
    return {dial.name: plain} if _figure(dial, plain) is not None else None


def turned(moment: Moment, settings: Settings, option: str) -> Settings | Spans:
    """Give the settings after a press (`k`, `k.8`) or a typed text, or the sentence that refuses it."""
    names = [dial.name for dial in settings.dials]
    name, _, value = option.partition(".")
    if option in names:
        return replace(settings, at=names.index(option))
    wanted = {name: value} if name in names and value else read(settings, option)
    if wanted is None:
        return moment.words.say("explorer.not_a_number", given=Code(option[:40]))
    for each, given in wanted.items():
        at = names.index(each)
        found = _figure(settings.dials[at], given)
        if found is None or not _fits(settings.dials[at], found):
            return _refusal(moment, settings.dials[at], given)
        values = (*settings.values[:at], found, *settings.values[at + 1 :])
        settings = replace(settings, values=values, at=at)
    return settings


def told(moment: Moment, settings: Settings) -> tuple[Block, ...]:
    """List where the dials stand and which one a typed number sets; a single dial needs no list."""
    if len(settings.dials) == 1:
        return ()
    words = moment.words
    rows = tuple(
        words.say(
            "explorer.setting",
            name=words.say(f"dial.{dial.name}"),
            symbol=dial.name,
            value=Number(dial.shown(value)),
        )
        for dial, value in zip(settings.dials, settings.values, strict=True)
    )
    dial = settings.dials[settings.at]
    pair = f"{dial.name}={dial.offers[-1]}"
    typing = words.say("explorer.typed_sets", name=words.say(f"dial.{dial.name}"), pair=pair)
    return (Bullets(rows), Paragraph(typing))


def offers(lesson: Lesson, settings: Settings) -> tuple[Choice, ...]:
    """Give a button for each value offered of the dial at hand."""
    dial = settings.dials[settings.at]
    return tuple(
        Choice(dial.label(offer), encode(Op.EXPLORE, lesson.slug, f"{dial.name}.{offer}")) for offer in dial.offers
    )


def others(moment: Moment, lesson: Lesson, settings: Settings) -> tuple[Choice, ...]:
    """Give a button for each other dial, which puts it at hand."""
    words = moment.words
    return tuple(
        Choice(words.text("explorer.turn_to", name=words.say(f"dial.{dial.name}")), _turn_to(lesson, dial))
        for at, dial in enumerate(settings.dials)
        if at != settings.at
    )


def _turn_to(lesson: Lesson, dial: Dial) -> str:
    return encode(Op.EXPLORE, lesson.slug, dial.name)


def _figure(dial: Dial, text: str) -> float | None:
    bare = text.casefold().removesuffix(dial.unit.casefold()).strip() if dial.unit else text
    found = figure(bare)
    return found + 0.0 if found is not None and math.isfinite(found) else None


def _fits(dial: Dial, value: float) -> bool:
    return dial.low <= value <= dial.high and (not dial.whole or value == int(value))


def _refusal(moment: Moment, dial: Dial, given: str) -> Spans:
    words = moment.words
    return words.say(
        "explorer.out_of_bounds_whole" if dial.whole else "explorer.out_of_bounds",
        given=Code(given[:40]),
        name=words.say(f"dial.{dial.name}"),
        low=Number(dial.shown(dial.low)),
        high=Number(dial.shown(dial.high)),
    )


def values_of(settings: Settings, names: Sequence[str]) -> tuple[float, ...]:
    """Give the values of some dials, in the order of the names."""
    return tuple(settings.by_name[name] for name in names)
