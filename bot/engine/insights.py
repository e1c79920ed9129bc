"""What went on inside a run, in words: where the compiler stopped and why, what it fused, what takes the time.

Law: torch's own wording is shown only as code, beside a sentence of ours where the kind of cause is known.
"""

import re
from typing import TypeVar

from bot.engine.figures import duration, percent, size
from bot.engine.moment import Moment
from bot.engine.replies import Block, Bullets, Code, CodeBlock, Heading, Number, Paragraph, Spans, Text
from sandbox_runner.protocol import Break, Insight, Kernel, Operation, Product, Recompile, Result

T = TypeVar("T")

_MOST_NAMED, _MOST_OPERATIONS = 4, 5
_LEAST_SHARE = 0.02
_MOST_KERNELS = 3
_CAUSES = (
    ("item", re.compile(r"Tensor\.item|\.item\(\)|\.tolist|scalar_outputs", re.IGNORECASE)),
    ("print", re.compile(r"`print`|builtin print|logging", re.IGNORECASE)),
    ("branch", re.compile(r"data.dependent (?:branch|jump|control)|generic_jump", re.IGNORECASE)),
    ("asked", re.compile(r"graph_break\(\)|torch\._dynamo\.disable|compiler\.disable", re.IGNORECASE)),
    ("numpy", re.compile(r"numpy", re.IGNORECASE)),
)
_SIZE = re.compile(r"tensor '([^']{1,60})' size mismatch at index (\d+)\. expected (\d+), actual (\d+)")
_TYPE = re.compile(r"tensor '([^']{1,60})' dtype mismatch\. expected (\w+), actual (\w+)")
_NAMED = re.compile(r"L\['([^']+)'\]")
_FUNCTION = re.compile(r"(.+) \(line (\d+)\)")
_OF_COMPILER = {"compiled kernels": "inspect.compiled", "torch.compile around them": "inspect.around"}
_LANGUAGES = {"triton": "python", "cpp": "text"}


def told(moment: Moment, result: Result) -> tuple[Block, ...]:
    """Word what was seen inside each variant; nothing where nothing was inspected."""
    if not result.insights:
        return ()
    blocks = tuple(block for found in result.insights for block in _one(moment, found))
    return (*blocks, Paragraph(moment.words.say("inspect.not_a_timing")))


def kernels(moment: Moment, result: Result | None) -> tuple[Block, ...]:
    """Show the kernels that the compiler wrote, the most interesting of each variant; say so where there are none."""
    words = moment.words
    found = [(seen.name, kernel) for seen in (result.insights if result else ()) for kernel in seen.kernels]
    if not found:
        return (Paragraph(words.say("inspect.no_kernel")),)
    # Compiled for several shapes, one kernel is written several times; the last is the one that runs now.
    last = {kernel.name: (name, kernel) for name, kernel in found}
    shown = sorted(last.values(), key=lambda pair: -len(pair[1].source))[:_MOST_KERNELS]
    blocks = [block for name, kernel in shown for block in _kernel(moment, name, kernel)]
    left = len(last) - len(shown)
    more = (Paragraph(words.say("inspect.more_kernels", n=left)),) if left else ()
    return (*blocks, Paragraph(words.say("inspect.read_kernel")), *more)


def _kernel(moment: Moment, variant: str, kernel: Kernel) -> tuple[Block, ...]:
    title = moment.words.say("inspect.kernel", name=Code(kernel.name), language=Code(kernel.language))
    where = (Text(" · "), Code(variant)) if variant else ()
    return (Paragraph((*title, *where)), CodeBlock(kernel.source, _LANGUAGES.get(kernel.language, "text")))


def _one(moment: Moment, found: Insight) -> tuple[Block, ...]:
    words = moment.words
    head = words.say("inspect.variant", name=Code(found.name)) if found.name else words.say("inspect.setup")
    return (
        Heading(head),
        *_why(moment, found),
        *_listed(
            moment,
            "inspect.operations",
            [_operation(moment, one) for one in found.operations if one.share >= _LEAST_SHARE],
        ),
        *_listed(moment, "inspect.products", [_product(moment, one) for one in found.products]),
        *_figures(moment, found),
    )


def _why(moment: Moment, found: Insight) -> tuple[Block, ...]:
    """Say what the compiler did and where it stopped, each with the learner's line."""
    words = moment.words
    blocks: list[Block] = []
    if found.breaks:
        blocks.append(Paragraph(words.say("inspect.breaks", n=len(found.breaks))))
        blocks.append(Bullets(tuple(_break(moment, one) for one in _once(found.breaks))))
    if found.recompiles:
        blocks.append(Paragraph(words.say("inspect.recompiles", n=len(found.recompiles))))
        blocks.append(Bullets(tuple(_recompile(moment, one) for one in _once(found.recompiles))))
    before, after = max(found.nodes, found.eager_kernels), len(found.kernels) + len(found.libraries)
    if found.graphs and before > after > 0:
        blocks.append(Paragraph(words.say("inspect.fused", before=Number(str(before)), after=Number(str(after)))))
    if found.graphs and not found.breaks and not found.recompiles:
        blocks.append(Paragraph(words.say("inspect.whole")))
    return tuple(blocks)


def _once(listed: tuple[T, ...]) -> list[T]:
    return list(dict.fromkeys(listed))[:_MOST_NAMED]


def _break(moment: Moment, one: Break) -> Spans:
    cause = next((code for code, pattern in _CAUSES if pattern.search(one.reason)), "other")
    said = moment.words.say(f"inspect.break.{cause}", reason=Code(_short(one.reason)))
    return (*_at(moment, one.line), *said)


def _recompile(moment: Moment, one: Recompile) -> Spans:
    words, why = moment.words, one.why
    if changed := _SIZE.search(why):
        name, index, old, new = changed.groups()
        said = words.say(
            "inspect.again.size", name=Code(_plain(name)), index=int(index), old=Number(old), new=Number(new)
        )
    elif changed := _TYPE.search(why):
        name, old, new = changed.groups()
        said = words.say("inspect.again.type", name=Code(_plain(name)), old=Code(old), new=Code(new))
    else:
        said = words.say("inspect.again.other", reason=Code(_short(why)))
    return (*_at(moment, one.line), Code(one.function), Text(" — "), *said)


def _at(moment: Moment, line: int | None) -> Spans:
    return (*moment.words.say("inspect.line", line=Number(str(line))), Text(" ")) if line else ()


def _plain(name: str) -> str:
    found = _NAMED.fullmatch(name)
    return found.group(1) if found else name


def _short(reason: str) -> str:
    return reason if len(reason) <= 120 else f"{reason[:119]}…"  # noqa: PLR2004 - a line of a phone or two


def _operation(moment: Moment, one: Operation) -> Spans:
    return (*_did(moment, one.name), Text(": "), Number(percent(one.share)))


def _did(moment: Moment, name: str) -> Spans:
    """Word what took the time: names of code stay code, what the runner says in words is said in ours."""
    if key := _OF_COMPILER.get(name):
        return moment.words.say(key)
    if found := _FUNCTION.fullmatch(name):
        return moment.words.say("inspect.function", name=Code(found[1][:60]), line=Number(found[2]))
    return (Code(name[:60]),)


def _product(moment: Moment, one: Product) -> Spans:
    times = (Text(" "), Number(f"×{one.count}")) if one.count > 1 else ()
    return (
        *moment.words.say("inspect.product", op=Code(one.op), kind=Code(one.precision), shape=Code(one.shape)),
        *times,
    )


def _listed(moment: Moment, key: str, rows: list[Spans]) -> tuple[Block, ...]:
    shown = tuple(rows[:_MOST_OPERATIONS])
    return (Paragraph(moment.words.say(key)), Bullets(shown)) if shown else ()


def _figures(moment: Moment, found: Insight) -> tuple[Block, ...]:
    """Give the counts and sizes that are known, a line each."""
    words = moment.words
    counts = (
        ("graphs", found.graphs),
        ("libraries", len(found.libraries)),
        ("eager", found.eager_kernels),
        ("launches", found.launches),
    )
    rows = [(*words.say(f"inspect.{name}"), Text(" "), Number(str(count))) for name, count in counts if count]
    if found.peak_bytes:
        rows.append((*words.say("inspect.peak"), Text(" "), Number(size(found.peak_bytes))))
    if found.first_ns and found.again_ns:
        first, again = Number(duration(found.first_ns)), Number(duration(found.again_ns))
        rows.append(words.say("inspect.calls", first=first, again=again))
    if found.guards:
        guards = [span for guard in found.guards[:_MOST_NAMED] for span in (Code(_guard(guard)), Text("، "))][:-1]
        rows.append((*words.say("inspect.guards"), Text(" "), *guards))
    return (Bullets(tuple(rows)),) if rows else ()


def _guard(guard: str) -> str:
    name, colon, rest = guard.partition(": ")
    return f"{_plain(name)}{colon}{rest}"
