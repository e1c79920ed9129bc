"""Results and walls as short English tables for an operator at a terminal; learners never see them.

Law: nothing that a learner's code wrote reaches the terminal with a control character in it.
"""

import unicodedata
from collections.abc import Iterable, Sequence

from sandbox_runner.protocol import Capabilities, Insight, Result, Stream, Variant, Wall

_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"))


def show_result(result: Result) -> str:
    """Lay out a result: the ending, the figures, the output, and what stood around it."""
    lines = [f"{result.kind.value}: {result.ending.value} on {result.device.value}"]
    if result.fault is not None:
        place = "" if result.fault.line is None else f" (line {result.fault.line})"
        lines.append(f"  {plain(result.fault.last_line)}{place}")
    if result.reached is not None:
        lines.append(f"  limit reached: {result.reached.name} = {result.reached.value:g} {result.reached.unit}")
    if result.value:
        lines.append(f"  value: {plain(result.value)}")
    lines += _variants(result) + _ratios(result) + _checks(result) + _insights(result)
    lines += _stream("stdout", result.stdout) + _stream("stderr", result.stderr)
    if result.files:
        lines += table(("file", "media", "bytes"), [(plain(f.name), f.media, str(f.size)) for f in result.files])
    lines += [_remark(flag.code, flag.values) for flag in result.flags]
    lines += [_remark(note.code, note.values) for note in result.notes]
    lines += _around(result)
    return "\n".join(lines)


def show_walls(walls: Sequence[Wall]) -> str:
    """Lay out what `probe` found, with how to mend what is missing."""
    rows = [
        (wall.name, "stands" if wall.stands else "MISSING", "yes" if wall.matters else "no", plain(wall.detail))
        for wall in walls
    ]
    lines = table(("wall", "found", "matters", "detail"), rows)
    for wall in walls:
        if not wall.stands and wall.mend:
            lines.append(f"to mend {wall.name}:")
            lines += [f"  {line}" for line in wall.mend.splitlines()]
    return "\n".join(lines)


def show_gauge(found: Capabilities) -> str:
    """Lay out what the instrument is worth on this host: its noise on equal work, and what the machine can do."""
    lines = [f"noise of one block on equal work: {found.noise:.2%}" if found.noise else "noise: not measured"]
    for name, rate in sorted(found.ceilings.items()):
        if name.endswith("noise"):
            where = " on the GPU" if name.startswith("cuda") else ""
            lines.append(f"  noise while the ceilings were measured{where}: {rate:.2%}")
        else:
            unit = "GB/s" if name.endswith("copy") else "GFLOP/s"
            lines.append(f"  at most {rate / 1e9:.3g} {unit} ({name})")
    return "\n".join(lines)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Align columns."""
    every = [list(head), *[list(row) for row in rows]]
    widths = [max(len(row[column]) for row in every) for column in range(len(head))]
    padded = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in every)
    return ["  " + "  ".join(row).rstrip() for row in padded]


def duration(nanoseconds: float) -> str:
    """Write a time with three significant digits."""
    for size, unit in _UNITS:
        if abs(nanoseconds) >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def plain(text: str) -> str:
    """Show control, format and surrogate characters (escapes of a terminal, direction overrides) as escapes."""
    return "".join(
        char if char in "\n\t" or unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co"} else _escape(char)
        for char in text
    )


def _escape(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")


def _remark(code: str, values: dict[str, str | int | float]) -> str:
    shown = ", ".join(f"{name}={plain(str(value))}" for name, value in values.items())
    return f"  note: {code}{f' ({shown})' if shown else ''}"


def _variants(result: Result) -> list[str]:
    rows = [
        (
            plain(variant.name),
            duration(variant.median_ns),
            f"{duration(variant.ci99_ns[0])} to {duration(variant.ci99_ns[1])}",
            str(variant.n),
            duration(variant.first_call_ns),
            plain(variant.precision),
            _reached(variant),
        )
        for variant in result.variants
    ]
    head = ("variant", "median", "99 % interval", "blocks", "first call", "precision", "reached")
    told = [column for column in range(len(head)) if any(row[column] for row in rows)]
    return table([head[c] for c in told], [[row[c] for c in told] for row in rows]) if rows else []


def _ratios(result: Result) -> list[str]:
    return [
        f"  {plain(ratio.name)} against {plain(ratio.against)}: {ratio.point:.4g} times"
        f" ({ratio.ci99[0]:.4g} to {ratio.ci99[1]:.4g}), {ratio.claim.value}"
        + (f", only {ratio.n} rounds" if ratio.few else f", {ratio.n} rounds")
        for ratio in result.ratios
    ]


def _insights(result: Result) -> list[str]:
    return [line for found in result.insights for line in _insight(found)]


def _insight(found: Insight) -> list[str]:
    lines = [f"[{plain(found.name) or 'set-up'}]"]
    if found.first_ns:
        lines.append(f"  first call {duration(found.first_ns)}, again {duration(found.again_ns)}")
    if found.graphs:
        kernels, libraries = len(found.kernels), len(found.libraries)
        lines.append(f"  {found.graphs} graphs, {found.nodes} steps -> {kernels} kernels and {libraries} library calls")
    if found.eager_kernels:
        lines.append(f"  {found.eager_kernels} operations as written, {found.launches} launches on the GPU")
    if found.peak_bytes:
        lines.append(f"  {found.peak_bytes / 1e6:.1f} MB of new memory at the peak")
    lines += [f"  graph break{_at(one.line)}: {plain(one.reason)}" for one in found.breaks]
    lines += [f"  {plain(one.function)} compiled again{_at(one.line)}: {plain(one.why)}" for one in found.recompiles]
    lines += [f"  guard: {plain(guard)}" for guard in found.guards]
    lines += [f"  {plain(one.op)} in {one.precision}: {plain(one.shape)}, {one.count} times" for one in found.products]
    lines += [f"  {one.share:6.1%} {plain(one.name)} ({one.calls} calls)" for one in found.operations]
    for kernel in found.kernels[:1]:
        lines += [f"  {kernel.language} {plain(kernel.name)}:", *(f"    {line}" for line in kernel.source.splitlines())]
    return lines


def _at(line: int | None) -> str:
    return "" if line is None else f" at line {line}"


def _checks(result: Result) -> list[str]:
    """Lay out what an exercise's checks said, and how near the submission came to the reference."""
    rows = [
        (str(check.n), "passed" if check.passed else f"FAILED: {plain(check.why)}", f"{check.error:.2g}")
        for check in result.checks
    ]
    share = [f"  {result.share:.0%} of the reference's speed"] if result.share else []
    return (table(("n", "check", "error"), rows) if rows else []) + share


def _reached(variant: Variant) -> str:
    own = f"; GPU itself {duration(variant.gpu_ns)}" if variant.gpu_ns else ""
    if variant.bound == "cache":
        return f"bound by caches{own}"
    return f"{variant.reached:.0%} of {plain(variant.bound)}{own}" if variant.bound else own.removeprefix("; ")


def _stream(name: str, stream: Stream) -> list[str]:
    if not stream.bytes:
        return []
    lines = [f"  {name}, {stream.bytes} bytes:", *[f"    {line}" for line in plain(stream.head).splitlines()]]
    if stream.dropped:
        lines.append(f"    ... {stream.dropped} bytes left out ...")
    return lines + [f"    {line}" for line in plain(stream.tail).splitlines()]


def _around(result: Result) -> list[str]:
    machine = result.machine
    lines = []
    if result.checked:
        confirmed = "yes" if result.confirmed else "no"
        lines.append(f"  checked: {result.checked}; confirmed by the outer clock: {confirmed}")
    if result.phases_ms:
        lines.append("  phases: " + ", ".join(f"{name} {ms:.0f} ms" for name, ms in result.phases_ms.items()))
    if result.start:
        lines.append(f"  start: {plain(result.start)}")
    if machine.cpu or machine.device:
        versions = (("Python", machine.python), ("numpy", machine.numpy), ("torch", machine.torch))
        what = [machine.device, machine.cpu, f"{machine.cores} cores"]
        what += [f"{name} {version}" for name, version in versions if version]
        lines.append("  machine: " + ", ".join(part for part in what if part))
    if result.walls:
        lines.append("  walls: " + ", ".join(result.walls))
    if result.accepted_missing:
        lines.append("  MISSING, accepted by name: " + ", ".join(result.accepted_missing))
    return lines
