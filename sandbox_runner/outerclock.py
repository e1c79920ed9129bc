"""The parent's own clock against what a harness claims: confirms, doubts, or says that it cannot tell.

Law: the process that claims a time also runs the learner's code, so a claim is believed only inside a two-sided
window. No block can have lasted longer than the parent waited for it; and what the parent waited longer than the
claim must be what empty blocks of the same run cost too. A loaded machine keeps a process that has just worked
waiting for its turn (30 ms, where an empty block costs 0.1): there nothing is confirmed, and only what hides time
in every one of many blocks is accused.
"""

from dataclasses import dataclass, field
from statistics import median

from sandbox_runner.stats import quantile

SLACK_NS = 20_000
SLACK_SHARE = 0.02
MOST_UNSEEN = 0.10
QUIET_NS = 500_000
MANY_BLOCKS = 16
_LEAST_EMPTY = 8
LONG_BLOCKS, LONGEST_NS = 4, 120_000_000
_LONG_SHARE = 0.4
_FLAGRANT_SHARE, _FLAGRANT_NS = 0.5, 100_000_000


@dataclass(frozen=True, slots=True)
class Doubt:
    """A claim that cannot be: whose, what was claimed for a block (median), and what the parent waited, in ns.

    `settled` is False while more blocks may still show that the machine, not the harness, hid the time.
    """

    variant: int
    claimed_ns: float
    wall_ns: float
    settled: bool


@dataclass(slots=True)
class OuterClock:
    """Gathers (claimed, wall) in ns of every block of each variant, and of the empty blocks between them.

    `trusted` variants are ours, in processes of their own: a busy machine may hide time there, and nobody lies.
    """

    empty: list[tuple[int, int]] = field(default_factory=list)
    blocks: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    longer: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    trusted: frozenset[int] = frozenset()

    def handshake_ns(self) -> float:
        """Give what 99 of 100 empty blocks cost at most."""
        return quantile([wall - claimed for claimed, wall in self.empty], 0.99) if self.empty else 0.0

    def usual_ns(self) -> float:
        """Give what an empty block costs at the median."""
        return median(wall - claimed for claimed, wall in self.empty) if self.empty else 0.0

    def block_target_ns(self, least: int, most: int) -> int:
        """Give how long a block should last, for its handshake to be a twentieth of it."""
        return int(min(max(20 * self.usual_ns(), least), most))

    def doubt(self) -> Doubt | None:
        """Name the first variant whose claims cannot be; None when none is."""
        found = [self._doubt(variant, pairs) for variant, pairs in self.blocks.items() if variant not in self.trusted]
        longer = ((variant, pairs) for variant, pairs in self.longer.items() if variant not in self.trusted)
        found += [self._doubt_longer(variant, pairs) for variant, pairs in longer]
        return next((doubt for doubt in found if doubt is not None), None)

    def wants_longer(self) -> list[tuple[int, float]]:
        """Name the variants whose blocks are short beside what a busy machine hides, and how much longer would do."""
        if self.handshake_ns() <= QUIET_NS:
            return []
        found = []
        for variant, pairs in self.blocks.items():
            waits = quantile([waited - claim for claim, waited in pairs], 0.9)
            shortest = min(waited for _, waited in pairs)
            wanted = min(max(5 * waits, 20 * self.usual_ns()), LONGEST_NS)
            if shortest < wanted:
                found.append((variant, wanted / shortest))
        return found

    @staticmethod
    def _doubt_longer(variant: int, pairs: list[tuple[int, int]]) -> Doubt | None:
        """Doubt what hides much of every one of some blocks that are long beside the handshake."""
        claimed, wall = (median(pair[i] for pair in pairs) for i in (0, 1))
        hides = min((waited - claim) / waited for claim, waited in pairs) > _LONG_SHARE
        over = any(claim > waited + SLACK_NS for claim, waited in pairs)
        return Doubt(variant, claimed, wall, settled=True) if over or (hides and len(pairs) >= LONG_BLOCKS) else None

    def _doubt(self, variant: int, pairs: list[tuple[int, int]]) -> Doubt | None:
        claimed, wall = (median(pair[i] for pair in pairs) for i in (0, 1))
        if any(claim > waited + SLACK_NS for claim, waited in pairs):
            return Doubt(variant, claimed, wall, settled=True)
        handshake = self.handshake_ns()
        least, shortest = min((waited - claim, waited) for claim, waited in pairs)
        flagrant = least > _FLAGRANT_SHARE * shortest + _FLAGRANT_NS
        if handshake <= QUIET_NS and self._hidden(pairs) > handshake + SLACK_SHARE * wall + SLACK_NS:
            return Doubt(variant, claimed, wall, settled=flagrant or len(pairs) >= MANY_BLOCKS)
        mostly_hidden = min((waited - claim) / waited for claim, waited in pairs) > _FLAGRANT_SHARE
        mostly_hidden = mostly_hidden and least > self.usual_ns() + SLACK_NS
        if mostly_hidden or least > 5 * self.usual_ns() + 0.05 * shortest + SLACK_NS:
            return Doubt(variant, claimed, wall, settled=flagrant or len(pairs) >= 3 * MANY_BLOCKS)
        return None

    def confirms(self) -> bool:
        """Tell whether a lie of more than a tenth would have been seen, for every variant.

        Medians are held against what 95 of 100 empty blocks cost: one interrupted among thirty says nothing.
        """
        if len(self.empty) < _LEAST_EMPTY or not self.blocks or self.doubt() is not None:
            return False
        handshake = quantile([wall - claimed for claimed, wall in self.empty], 0.95)
        for pairs in self.blocks.values():
            allowed = SLACK_NS + SLACK_SHARE * median(waited for _, waited in pairs)
            unseen = (handshake - self.usual_ns() + allowed) / median(waited for _, waited in pairs)
            if unseen > MOST_UNSEEN or self._hidden(pairs) > handshake + allowed:
                return False
        return True

    @staticmethod
    def _hidden(pairs: list[tuple[int, int]]) -> float:
        return median(waited - claim for claim, waited in pairs)
