"""What a rule or a pass found: a code, the place, and figures; never a verdict."""

from dataclasses import dataclass, field

Values = dict[str, str | int | float]


@dataclass(frozen=True)
class Finding:
    """One finding: `variant` is its number, -1 where it is of the whole source. A figure's name says its unit."""

    code: str
    line: int | None = None
    values: Values = field(default_factory=dict)
    variant: int = -1
