"""The two-sided window: lies are named, a busy machine is not, and confirmation needs a window narrow enough."""

import random

from hypothesis import given
from hypothesis import strategies as st

from sandbox_runner.outerclock import SLACK_CUDA_NS, Heard, OuterClock

EMPTY = [(100, 100_000 + 1000 * i) for i in range(30)]


def clock(pairs: list[tuple[int, int]], empty: list[tuple[int, int]] | None = None) -> OuterClock:
    return OuterClock(empty=EMPTY if empty is None else empty, blocks={0: pairs})


def honest(n: int, block: int = 4_000_000) -> list[tuple[int, int]]:
    return [(block + 1000 * i, block + 1000 * i + 110_000) for i in range(n)]


def hiding(n: int, share: float, block: int = 4_000_000) -> list[tuple[int, int]]:
    return [(round(claim * (1 - share)), wall) for claim, wall in honest(n, block)]


def waiting(n: int, seed: int = 5, block: int = 4_000_000) -> list[tuple[int, int]]:
    """Give honest blocks of a busy machine: four of five wait for their turn, up to 30 ms."""
    rng = random.Random(seed)  # noqa: S311 - samples, no secrets
    return [
        (claim, wall + (0 if rng.random() < 0.2 else rng.randrange(30_000_000))) for claim, wall in honest(n, block)
    ]


BUSY = [*EMPTY, *[(100, 12_000_000), (100, 25_000_000)] * 2]


def test_honest_blocks_on_a_quiet_machine_are_confirmed() -> None:
    assert clock(honest(20)).doubts() == []
    assert clock(honest(20)).confirms()


def test_one_interrupted_empty_block_among_thirty_does_not_prevent_confirmation() -> None:
    assert clock(honest(20), [*EMPTY, (100, 9_000_000)]).confirms()
    assert not clock(hiding(20, 0.15), [*EMPTY, (100, 9_000_000)]).confirms()


def test_a_claim_longer_than_the_wait_is_doubted_at_once_and_proven_when_it_is_made_again() -> None:
    found = clock([*honest(20), (5_000_000, 4_900_000)])
    assert [doubt.variant for doubt in found.doubts()] == [0]
    assert found.proven() is None
    found.heard[0] = Heard(empty=EMPTY, again=honest(16))
    assert found.proven() is None
    found.heard[0].again.append((5_000_000, 4_900_000))
    assert found.proven() is not None
    assert not found.confirms()


def test_a_clock_that_runs_fast_needs_no_hearing() -> None:
    assert clock([(3 * claim, wall) for claim, wall in honest(20)]).proven() is not None


def test_a_tenth_hidden_by_nearly_every_of_many_blocks_on_a_quiet_machine_is_proven() -> None:
    found = clock(hiding(32, 0.1), [*EMPTY, *EMPTY])
    doubt = found.proven()
    assert doubt is not None
    assert doubt.variant == 0
    few = clock(hiding(20, 0.1))
    assert few.doubts()
    assert few.proven() is None
    few.heard[0] = Heard(empty=EMPTY, again=hiding(16, 0.1))
    assert few.proven() is not None


def test_a_doubt_that_does_not_repeat_proves_nothing() -> None:
    found = clock(hiding(20, 0.1))
    found.heard[0] = Heard(empty=EMPTY, again=honest(16))
    assert found.proven() is None
    assert not found.confirms()


def test_what_is_hidden_between_empty_blocks_that_wait_too_proves_nothing() -> None:
    found = clock(hiding(40, 0.5), [*EMPTY, *BUSY])
    found.heard[0] = Heard(empty=BUSY, again=hiding(16, 0.5))
    assert found.doubts()
    assert found.proven() is None


def test_waiting_for_a_turn_on_a_busy_machine_is_neither_confirmed_nor_accused() -> None:
    for seed in range(20):
        found = clock(waiting(40, seed), BUSY)
        assert not found.confirms()
        found.heard[0] = Heard(empty=BUSY, again=waiting(16, seed + 100), longer=waiting(8, seed + 200, 200_000_000))
        assert found.proven() is None


def test_only_blocks_that_are_long_beside_every_wait_prove_a_lie_on_a_busy_machine() -> None:
    found = clock(hiding(20, 0.5), BUSY)
    found.heard[0] = Heard(longer=hiding(8, 0.5, 200_000_000))
    assert found.proven() is None  # 25 ms is an eighth of it
    found.heard[0] = Heard(longer=hiding(8, 0.5, 300_000_000))
    assert found.proven() is not None
    found.heard[0] = Heard(longer=[*hiding(7, 0.5, 300_000_000), *honest(1, 300_000_000)])
    assert found.proven() is None


def test_where_every_wait_is_long_no_block_is_long_enough_to_tell() -> None:
    assert clock(honest(9), BUSY).long_ns() == 250_000_000
    assert clock(honest(9), [*BUSY, *[(100, 90_000_000)] * 3]).long_ns() is None


def test_seconds_hidden_in_single_blocks_are_doubted_at_once_and_proven_by_the_third() -> None:
    slow = (1_000_000, 3_000_000_000)
    found = clock([slow])
    assert found.doubts()
    found.heard[0] = Heard(again=[slow])
    assert found.proven() is None
    found.heard[0].again.append(slow)
    assert found.proven() is not None
    found.heard[0].again.append((2_900_000_000, 3_000_000_000))
    assert found.proven() is None


def test_waking_late_after_a_wait_for_a_gpu_accuses_nobody_and_is_outlasted() -> None:
    empty, late = [(100, 90_000)] * 40, 310_000
    short = [(2_900_000, 2_900_000 + late)] * 40
    found = OuterClock(empty=empty, blocks={0: short}, slack_ns=SLACK_CUDA_NS)
    assert (found.doubts(), found.proven(), found.confirms()) == ([], None, False)
    assert OuterClock(empty=empty, blocks={0: short}).proven() is not None
    long = [(8_000_000, 8_000_000 + late)] * 40
    assert OuterClock(empty=empty, blocks={0: long}, slack_ns=SLACK_CUDA_NS).confirms()
    lie = [(7_000_000, 8_000_000)] * 40
    found = OuterClock(empty=empty, blocks={0: lie}, slack_ns=SLACK_CUDA_NS)
    assert (found.confirms(), found.proven() is not None) == (False, True)


def test_who_is_trusted_is_never_doubted() -> None:
    found = clock(hiding(40, 0.9))
    found.trusted = frozenset({0})
    assert (found.doubts(), found.proven(), found.cannot_tell()) == ([], None, [])


def test_too_few_or_too_dear_empty_blocks_confirm_nothing() -> None:
    assert not clock(honest(20), EMPTY[:5]).confirms()
    assert not clock(honest(20, block=300_000), [*EMPTY, (100, 400_000), (100, 400_000)]).confirms()
    assert not OuterClock(empty=EMPTY).confirms()


def test_blocks_are_sized_by_their_handshake_within_bounds() -> None:
    assert clock([]).block_target_ns(1_000_000, 5_000_000) == 20 * 106_900
    assert clock([], BUSY).block_target_ns(1_000_000, 5_000_000) <= 20 * 110_000
    assert clock([], [(100, 10_100)]).block_target_ns(1_000_000, 5_000_000) == 1_000_000
    assert clock([], [(100, 10_000_000)]).block_target_ns(1_000_000, 5_000_000) == 5_000_000


@given(st.lists(st.tuples(st.integers(1, 10**9), st.integers(0, 10**5)), min_size=1, max_size=40))
def test_a_claim_within_a_handshake_of_the_wait_is_never_doubted(blocks: list[tuple[int, int]]) -> None:
    found = clock([(claim, claim + over) for claim, over in blocks])
    assert found.doubts() == []
    assert found.proven() is None
