"""The parent's own clock against what a harness claims: confirms, doubts, or says that it cannot tell.

Law: the process that claims a time also runs the learner's code, so a claim is believed only inside a two-sided
window. No block can have lasted longer than the parent waited for it; and what the parent waited longer than the
claim must be what empty blocks of the same run cost too. A loaded machine keeps a process that has just worked
waiting for its turn (30 ms, where an empty block costs 0.1): there nothing is confirmed. A doubt accuses nobody: who
is doubted is heard again, and only fresh blocks that nothing but a lie explains, all of them, are one.
"""

from dataclasses import dataclass, field
from statistics import median

from sandbox_runner.stats import quantile

SLACK_NS, SLACK_CUDA_NS = 20_000, 300_000
"""How much longer than an empty block an honest one may seem. One that waits for a GPU lets the parent's core fall
asleep too: that it wakes late (200 µs in a virtual machine) is seen in no empty block."""
SLACK_SHARE = 0.02
MOST_UNSEEN = 0.10
QUIET_NS = 500_000
MANY_BLOCKS = 16
_LEAST_EMPTY = 8
LONG_BLOCKS, FEW_BLOCKS = 8, 3
LEAST_LONG_NS, MOST_LONG_NS = 30_000_000, 500_000_000
_LONG_TIMES, _FLAGRANT_TIMES = 10, 20
_LONG_SHARE = 0.4
_FLAGRANT_SHARE, _FLAGRANT_NS = 0.5, 100_000_000
_OVER_SHARE = 0.001
_NEARLY_ALL = 0.9

Waited = tuple[int, int]
"""What was claimed for a block, and what the parent waited for it, in ns."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A claim that can hardly be: whose, what was claimed for a block (median), and what the parent waited, in ns."""

    variant: int
    claimed_ns: float
    wall_ns: float


@dataclass(slots=True)
class Heard:
    """What a doubted variant showed when it was asked again.

    `again` are blocks as they were measured, between `empty` ones; `longer` are blocks beside which the waits of the
    run are short.
    """

    empty: list[Waited] = field(default_factory=list)
    again: list[Waited] = field(default_factory=list)
    longer: list[Waited] = field(default_factory=list)


@dataclass(slots=True)
class OuterClock:
    """Gathers the blocks of each variant, and the empty blocks between them.

    `trusted` variants are ours, in processes of their own: a busy machine may hide time there, and nobody lies.
    """

    empty: list[Waited] = field(default_factory=list)
    blocks: dict[int, list[Waited]] = field(default_factory=dict)
    heard: dict[int, Heard] = field(default_factory=dict)
    trusted: frozenset[int] = frozenset()
    slack_ns: float = SLACK_NS

    def handshake_ns(self) -> float:
        """Give what 99 of 100 empty blocks cost at most."""
        return quantile([wall - claimed for claimed, wall in self.empty], 0.99) if self.empty else 0.0

    def usual_ns(self) -> float:
        """Give what an empty block costs at the median."""
        return median(wall - claimed for claimed, wall in self.empty) if self.empty else 0.0

    def long_wait_ns(self) -> float:
        """Give what this machine kept 95 of 100 empty blocks of this run waiting at most."""
        heard = (pair for each in self.heard.values() for pair in each.empty)
        walls = [wall for _, wall in (*self.empty, *heard)]
        return quantile(walls, 0.95) if walls else 0.0

    def block_target_ns(self, least: int, most: int, part: float = 0.25) -> int:
        """Give how long a block should last, for its handshake to be a twentieth of it.

        By the quick quarter of the empty ones: on a busy machine a longer block is only interrupted more often. A GPU
        works on while its process waits for a turn: there a larger `part` of the handshakes may be outlasted.
        """
        usual = quantile([wall - claimed for claimed, wall in self.empty], part) if self.empty else 0.0
        return int(min(max(20 * usual, least), most))

    def doubts(self) -> list[Doubt]:
        """Name the variants whose claims can hardly be."""
        pairs = ((variant, pairs) for variant, pairs in self.blocks.items() if variant not in self.trusted)
        found = (self._doubt(variant, each) for variant, each in pairs if each)
        return [doubt for doubt in found if doubt is not None]

    def cannot_tell(self) -> list[int]:
        """Name the variants whose blocks are short beside what this machine hides: a lie would not be seen in them."""
        if self.handshake_ns() <= QUIET_NS:
            return []
        return [
            variant
            for variant, pairs in self.blocks.items()
            if pairs and variant not in self.trusted
            and min(wall for _, wall in pairs) < _LONG_TIMES * self.handshake_ns()
        ]  # fmt: skip

    def _doubt(self, variant: int, pairs: list[Waited]) -> Doubt | None:
        doubt = Doubt(variant, *(median(pair[i] for pair in pairs) for i in (0, 1)))
        if any(_over(pair) for pair in pairs):
            return doubt
        least, shortest = min((wall - claim, wall) for claim, wall in pairs)
        if self.handshake_ns() <= QUIET_NS and _hidden(pairs) > self._allowed(self.handshake_ns(), doubt.wall_ns):
            return doubt
        mostly = min(_share(pair) for pair in pairs) > _FLAGRANT_SHARE and least > self.usual_ns() + self.slack_ns
        return doubt if mostly or least > 5 * self.usual_ns() + 0.05 * shortest + self.slack_ns else None

    def _allowed(self, handshake: float, wall: float) -> float:
        return _allowed(handshake, wall, self.slack_ns)

    def proven(self) -> Doubt | None:
        """Name a variant whose blocks, too many or heard again, nothing but a lie explains."""
        for variant, pairs in self.blocks.items():
            if variant in self.trusted or not pairs:
                continue
            heard = self.heard.get(variant, Heard())
            measured = _hides_in_quiet(pairs, self.empty, 2 * MANY_BLOCKS, self.slack_ns)
            again = _hides_in_quiet(heard.again, heard.empty, MANY_BLOCKS, self.slack_ns)
            if measured or again or self._claims_too_much(pairs, heard) or self._hides_much(pairs, heard):
                shown = heard.longer or heard.again or pairs
                return Doubt(variant, *(median(pair[i] for pair in shown) for i in (0, 1)))
        return None

    @staticmethod
    def _claims_too_much(pairs: list[Waited], heard: Heard) -> bool:
        """Whether blocks claimed longer than the parent waited: many, or some and when asked again."""
        before, fresh = (sum(map(_over, each)) for each in (pairs, (*heard.again, *heard.longer)))
        return before >= MANY_BLOCKS // 2 or (fresh > 0 and before + fresh > 1)

    def _hides_much(self, pairs: list[Waited], heard: Heard) -> bool:
        """Whether much of every block is hidden that is long beside the long waits of this run.

        Once in twenty an honest one may be kept waiting as long as that, not four times as long in each of eight.
        """
        wait = self.long_wait_ns()
        long = [pair for pair in heard.longer if pair[1] >= max(_LONG_TIMES * wait, LEAST_LONG_NS)]
        if len(long) >= LONG_BLOCKS and all(_share(pair) > _LONG_SHARE for pair in long):
            return True
        every = [*pairs, *heard.again, *heard.longer]
        flagrant = [
            _share(pair) > _FLAGRANT_SHARE and pair[1] - pair[0] > _FLAGRANT_NS and pair[1] >= _FLAGRANT_TIMES * wait
            for pair in every
        ]
        return len(heard.again) + len(heard.longer) > 0 and len(every) >= FEW_BLOCKS and all(flagrant)

    def long_ns(self) -> float | None:
        """Give how long a block must be for no usual wait to be much of it; None where that is too long."""
        wanted = max(_LONG_TIMES * self.long_wait_ns(), float(LEAST_LONG_NS))
        return wanted if wanted <= MOST_LONG_NS else None

    def acquits(self, pair: Waited) -> bool:
        """Whether so little of a block is hidden that the machine may well have done it."""
        return _share(pair) <= _LONG_SHARE and not _over(pair)

    def clears(self, pair: Waited) -> bool:
        """Whether a block as it was measured hides no more than the usual."""
        claim, wall = pair
        return wall - claim <= self._allowed(5 * self.usual_ns(), wall) and not _over(pair)

    def confirms(self) -> bool:
        """Tell whether a lie of more than a tenth would have been seen, for every variant.

        Medians are held against what 95 of 100 empty blocks cost: one interrupted among thirty says nothing.
        """
        if len(self.empty) < _LEAST_EMPTY or not self.blocks or self.doubts() or self.proven() is not None:
            return False
        handshake = quantile([wall - claimed for claimed, wall in self.empty], 0.95)
        for pairs in self.blocks.values():
            allowed = self.slack_ns + SLACK_SHARE * median(waited for _, waited in pairs)
            unseen = (handshake - self.usual_ns() + allowed) / median(waited for _, waited in pairs)
            if unseen > MOST_UNSEEN or _hidden(pairs) > handshake + allowed:
                return False
        return True


def _hides_in_quiet(pairs: list[Waited], empty: list[Waited], least: int, slack: float) -> bool:
    """Whether nearly every one of at least so many blocks hid more than the worst of the empty ones between.

    All of those were quick: nothing waited for its turn there, and the rest of a block is the harness's own.
    """
    if min(len(pairs), len(empty)) < least:
        return False
    worst = max(wall for _, wall in empty)
    hides = sum(wall - claim > _allowed(worst, wall, slack) for claim, wall in pairs)
    return worst <= QUIET_NS and hides >= _NEARLY_ALL * len(pairs)


def _hidden(pairs: list[Waited]) -> float:
    return median(waited - claim for claim, waited in pairs)


def _allowed(handshake: float, wall: float, slack: float) -> float:
    return handshake + SLACK_SHARE * wall + slack


def _share(pair: Waited) -> float:
    return (pair[1] - pair[0]) / max(pair[1], 1)


def _over(pair: Waited) -> bool:
    return pair[0] > pair[1] * (1 + _OVER_SHARE) + SLACK_NS
