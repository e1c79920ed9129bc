"""What was measured, in words: times, ratios with their intervals, the verdict, the machine, and what was checked.

Law: digits only as the interval allows; no figure without its machine; the first call stands apart; whether the outer
clock confirms it is always said.
"""

from collections.abc import Mapping
from dataclasses import replace

from bot.engine import reached
from bot.engine.figures import duration, duration_within, interval, interval_ends, percent, plain, size, within
from bot.engine.moment import Moment
from bot.engine.replies import Block, Bullets, Code, Number, Paragraph, RatioRow, Spans, Text, TimingRow, Timings
from sandbox_runner.protocol import Claim, Flag, JobKind, Machine, Ratio, Result, Variant

_FIRST_CALL_APART = 3.0
"""A first call this many times the median is shown: below that it is only a first call."""
_NAME = 60
"""Characters of a variant's name that are shown."""
_MOST_FLAGS, _MOST_MISTAKES = 8, 3
_ROLES = {"starter": "exercise.starter", "submission": "exercise.own_code", "reference": "exercise.reference"}


def worded(moment: Moment, result: Result) -> Result:
    """Give a submission's result with its three codes named in words; any other result as it is."""
    return in_words(moment, result) if result.kind is JobKind.EXERCISE else result


def in_words(moment: Moment, result: Result) -> Result:
    """Name the codes of an exercise in words, wherever a name stands for one of them."""
    named = {code: moment.words.text(key) for code, key in _ROLES.items()}

    return replace(
        result,
        variants=tuple(replace(each, name=named.get(each.name, each.name)) for each in result.variants),
        ratios=tuple(
            replace(each, name=named.get(each.name, each.name), against=named.get(each.against, each.against))
            for each in result.ratios
        ),
        flags=tuple(replace(each, values=_with_names(each.values, named)) for each in result.flags),
    )


def timings(moment: Moment, result: Result) -> tuple[Block, ...]:
    """Give the table and the sentences of a timing; nothing when nothing was measured."""
    if not result.variants:
        return ()
    table = Timings(
        rows=tuple(_row(variant) for variant in result.variants),
        ratios=tuple(_ratio(moment, ratio) for ratio in result.ratios),
        machine=machine_line(moment, result.machine),
        alt=_alt(moment, result),
        roofline=reached.roofline(moment, result),
    )
    return (
        *(Paragraph(verdict(moment, ratio)) for ratio in result.ratios),
        *_single(moment, result),
        table,
        *elsewhere(moment, result),
        *_unclear(moment, result),
        *_trust(moment, result),
    )


def elsewhere(moment: Moment, result: Result) -> tuple[Block, ...]:
    """Say that figures are another machine's than those that they would be compared with."""
    run = moment.known.run
    before = run.job.machine if run is not None and run.job.id == result.job_id else ""
    now = result.machine.name
    if not before or not now or before == now:
        return ()
    return (Paragraph(moment.words.say("time.elsewhere", before=Code(before[:_NAME]), now=Code(now[:_NAME]))),)


def verdict(moment: Moment, ratio: Ratio) -> Spans:
    """Word what a ratio allows to be said, as one sentence."""
    point, low, high = _oriented(ratio)
    ends = interval_ends(low, high)
    few = moment.words.say("verdict.few") if ratio.few else ()
    aside = ratio.claim is Claim.UNCLEAR and not float(ends[0]) <= 1.0 <= float(ends[1])
    likely = moment.words.say("verdict.one_side") if aside else ()
    said = moment.words.say(
        f"verdict.{ratio.claim}",
        name=Code(ratio.name[:_NAME]),
        against=Code(ratio.against[:_NAME]),
        times=moment.words.say("verdict.times", n=Number(within(point, low, high))),
        low=Number(ends[0]),
        high=Number(ends[1]),
    )
    return (*said, *likely, *few)


def machine_line(moment: Moment, machine: Machine) -> Spans:
    """Word a machine: processor, cores, threads, versions."""
    words = moment.words
    parts: list[Spans] = []
    if machine.cpu:
        parts.append((Code(machine.cpu[:80]),))
    if machine.device and machine.device != "cpu":
        parts.append((Code(machine.device[:80]),))
    if machine.cores:
        parts.append(words.say("machine.cores", n=machine.cores))
    if machine.threads:
        parts.append(words.say("machine.threads", n=machine.threads))
    versions = {"Python": machine.python, "numpy": machine.numpy, "torch": machine.torch}
    parts += [(Code(f"{name} {version[:30]}"),) for name, version in versions.items() if version]
    if not parts:
        return words.say("machine.unknown")
    return tuple(span for i, part in enumerate(parts) for span in ((Text("، "), *part) if i else part))


def _with_names(values: Mapping[str, str | float], named: Mapping[str, str]) -> dict[str, str | float]:
    code = values.get("name")
    return {**values, "name": named[code]} if isinstance(code, str) and code in named else dict(values)


def _oriented(ratio: Ratio) -> tuple[float, float, float]:
    """Give the ratio so that it is more than 1 when it is said as `slower`."""
    low, high = ratio.ci99
    if ratio.claim is Claim.SLOWER and min(ratio.point, low, high) > 0:
        return 1 / ratio.point, 1 / high, 1 / low
    return ratio.point, low, high


def _row(variant: Variant) -> TimingRow:
    low, high = variant.ci99_ns
    apart = variant.first_call_ns > _FIRST_CALL_APART * variant.median_ns
    return TimingRow(
        name=variant.name[:_NAME],
        median_ns=variant.median_ns,
        low_ns=low,
        high_ns=high,
        shown=duration_within(variant.median_ns, low, high),
        first_call=duration(variant.first_call_ns) if apart else "",
    )


def _ratio(moment: Moment, ratio: Ratio) -> RatioRow:
    low, high = ratio.ci99
    return RatioRow(
        name=ratio.name[:_NAME],
        against=ratio.against[:_NAME],
        point=ratio.point,
        low=low,
        high=high,
        shown=f"{within(ratio.point, low, high)}×",
        interval=interval(low, high),
        claim=ratio.claim.value,
        verdict=verdict(moment, ratio),
    )


def _alt(moment: Moment, result: Result) -> str:
    words = moment.words
    rows = "، ".join(
        f"{variant.name[:_NAME]}: {duration_within(variant.median_ns, *variant.ci99_ns)}" for variant in result.variants
    )
    return words.text("time.alt", rows=rows)


def _single(moment: Moment, result: Result) -> tuple[Block, ...]:
    if result.ratios or len(result.variants) > 1:
        return ()
    return (Paragraph(single(moment, result)), Paragraph(moment.words.say("time.add_cells")))


def single(moment: Moment, result: Result) -> Spans:
    """Word the time of the only variant, or of the first."""
    variant = result.variants[0]
    shown = Number(duration_within(variant.median_ns, *variant.ci99_ns))
    return moment.words.say("time.single", name=Code(variant.name[:_NAME]), time=shown)


def _unclear(moment: Moment, result: Result) -> tuple[Block, ...]:
    unclear = any(ratio.claim is Claim.UNCLEAR for ratio in result.ratios)
    return (Paragraph(moment.words.say("time.offer_longer")),) if unclear else ()


def _trust(moment: Moment, result: Result) -> tuple[Block, ...]:
    words = moment.words
    told = any(flag.code == "noisy" for flag in result.flags)
    checked = words.say("time.checked_values" if result.checked == "fresh_inputs" else "time.checked_time_only")
    clock = words.say("time.confirmed" if result.confirmed else "time.not_confirmed")
    noise = words.say("time.noise", noise=Number(percent(result.noise))) if result.noise > 0 and not told else ()
    first = words.say("time.first_call") if any(_row(variant).first_call for variant in result.variants) else ()
    machine = (*reached.said(moment, result), *reached.of_gpu(moment, result))
    return (Bullets(tuple(item for item in (checked, clock, noise, first, *machine) if item)),)


def flags(moment: Moment, result: Result) -> tuple[Block, ...]:
    """Word what a learner should know about the figures, or about why there are none."""
    items = tuple(_flag(moment, flag) for flag in _worth_saying(result.flags))
    return (Bullets(items),) if items else ()


def _worth_saying(found: tuple[Flag, ...]) -> list[Flag]:
    """Choose the flags to show: of the mistakes, which come the gravest first, at most three, each kind once."""
    mistakes: dict[str, Flag] = {}
    for flag in found:
        if "mistake" in flag.values:
            mistakes.setdefault(flag.code, flag)
    rest = [flag for flag in found if "mistake" not in flag.values]
    return [*list(mistakes.values())[:_MOST_MISTAKES], *rest][:_MOST_FLAGS]


def _flag(moment: Moment, flag: Flag) -> Spans:
    words = moment.words
    key = f"flag.{flag.code}"
    if {"share", "times"} & set(flag.values) and words.has(f"{key}_sized"):
        key = f"{key}_sized"
    figures = {name: _figure(name, value) for name, value in flag.values.items() if name not in {"key", "n"}}
    said = words.say(key, **figures) if words.has(key) else words.say("flag.unnamed")
    line = words.say("flag.line", line=flag.line) if flag.line is not None else ()
    return (*said, *((Text(" "), *line) if line else ()))


def _figure(name: str, value: str | float) -> Spans:
    """Show a figure of a flag; its name says what it counts (`protocol.py`: ns, s, shares)."""
    if isinstance(value, str):
        return (Code(value[:120]),) if value else ()
    if name == "ns" or name.endswith("_ns"):
        return (Number(duration(value)),)
    if name in {"noise", "share", "part"}:
        return (Number(percent(value)),)
    if name == "bytes":
        return (Number(size(value)),)
    return (Number(f"{value:.2g}" if name == "error" else plain(value)),)
