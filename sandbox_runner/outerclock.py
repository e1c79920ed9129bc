"""The parent's own clock against what a harness claims: confirms, doubts, or says that it cannot tell.

Law: the process that claims a time also runs the learner's code, so a claim is believed only inside a two-sided
window. No block can have lasted longer than the parent waited for it; and what the parent waited longer than the
claim must be what empty blocks of the same run cost too. A loaded machine makes empty blocks dear: then nothing is
confirmed, and nobody is accused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median

from sandbox_runner.stats import quantile

SLACK_NS = 20_000
SLACK_SHARE = 0.02
MOST_UNSEEN = 0.10
_LEAST_EMPTY = 8


@dataclass(frozen=True, slots=True)
class Doubt:
    """A claim that cannot be: whose, what was claimed for a block (median), and what the parent waited, in ns."""

    variant: int
    claimed_ns: float
    wall_ns: float


@dataclass(slots=True)
class OuterClock:
    """Gathers (claimed, wall) in ns of every block of each variant, and of the empty blocks between them."""

    empty: list[tuple[int, int]] = field(default_factory=list)
    blocks: dict[int, list[tuple[int, int]]] = field(default_factory=dict)

    def handshake_ns(self) -> float:
        """Give what 99 of 100 empty blocks cost at most."""
        return quantile([wall - claimed for claimed, wall in self.empty], 0.99) if self.empty else 0.0

    def block_target_ns(self, least: int, most: int) -> int:
        """Give how long a block should last, for its handshake to be a twentieth of it."""
        usual = median(wall for _, wall in self.empty) if self.empty else 0.0
        return int(min(max(20 * usual, least), most))

    def doubt(self) -> Doubt | None:
        """Name the first variant whose claims cannot be; None when none is."""
        handshake = self.handshake_ns()
        for variant, pairs in self.blocks.items():
            claimed, wall = (median(pair[i] for pair in pairs) for i in (0, 1))
            over = max(claim - waited for claim, waited in pairs)
            hidden = median(waited - claim for claim, waited in pairs)
            if over > SLACK_NS or hidden > handshake + SLACK_SHARE * wall + SLACK_NS:
                return Doubt(variant, claimed, wall)
        return None

    def confirms(self) -> bool:
        """Tell whether a lie of more than a tenth would have been seen, for every variant."""
        if len(self.empty) < _LEAST_EMPTY or not self.blocks or self.doubt() is not None:
            return False
        return all(share <= MOST_UNSEEN for share in self.unseen().values())

    def unseen(self) -> Mapping[int, float]:
        """Give, for each variant, the largest share of its time that could be hidden without being seen."""
        usual = median(wall - claimed for claimed, wall in self.empty) if self.empty else 0.0
        spread = self.handshake_ns() - usual + SLACK_NS
        return {
            variant: spread / median(wall for _, wall in pairs) + SLACK_SHARE for variant, pairs in self.blocks.items()
        }
