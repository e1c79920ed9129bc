"""The two-sided window: lies are named, a busy machine is not, and confirmation needs a window narrow enough."""

import random

from hypothesis import given
from hypothesis import strategies as st

from sandbox_runner.outerclock import OuterClock

EMPTY = [(100, 100_000 + 1000 * i) for i in range(30)]


def clock(pairs: list[tuple[int, int]], empty: list[tuple[int, int]] | None = None) -> OuterClock:
    return OuterClock(empty=EMPTY if empty is None else empty, blocks={0: pairs})


def honest(n: int, block: int = 4_000_000) -> list[tuple[int, int]]:
    return [(block + 1000 * i, block + 1000 * i + 110_000) for i in range(n)]


def test_honest_blocks_on_a_quiet_machine_are_confirmed() -> None:
    assert clock(honest(20)).doubt() is None
    assert clock(honest(20)).confirms()


def test_one_interrupted_empty_block_among_thirty_does_not_prevent_confirmation() -> None:
    assert clock(honest(20), [*EMPTY, (100, 9_000_000)]).confirms()
    assert not clock([(claim * 85 // 100, wall) for claim, wall in honest(20)], [*EMPTY, (100, 9_000_000)]).confirms()


def test_a_claim_longer_than_the_wait_is_doubted_at_once() -> None:
    doubt = clock([*honest(20), (5_000_000, 4_900_000)]).doubt()
    assert doubt is not None
    assert doubt.settled


def test_a_tenth_hidden_on_a_quiet_machine_is_named() -> None:
    doubt = clock([(claim * 9 // 10, wall) for claim, wall in honest(20)]).doubt()
    assert doubt is not None
    assert (doubt.variant, doubt.settled) == (0, True)


def test_waiting_for_a_turn_on_a_busy_machine_is_neither_confirmed_nor_accused() -> None:
    rng = random.Random(5)  # noqa: S311 - samples, no secrets
    busy = [(claim, wall + (0 if rng.random() < 0.2 else rng.randrange(30_000_000))) for claim, wall in honest(40)]
    empty = [(100, 100_000 + (0 if rng.random() < 0.8 else rng.randrange(12_000_000))) for _ in range(30)]
    assert clock(busy, empty).doubt() is None
    assert not clock(busy, empty).confirms()


def test_few_blocks_that_all_hide_time_on_a_busy_machine_are_not_yet_a_settled_doubt() -> None:
    empty = [*EMPTY, (100, 12_000_000)]
    hiding = [(claim // 2, wall) for claim, wall in honest(6)]
    doubt = clock(hiding, empty).doubt()
    assert doubt is not None
    assert not doubt.settled
    more = clock(hiding * 8, empty).doubt()
    assert more is not None
    assert more.settled


def test_blocks_that_claim_next_to_nothing_are_named_even_where_the_machine_is_busy() -> None:
    empty = [(1, 2_000_000)] * 30
    doubt = clock([(1, 5_000_000 + 1000 * i) for i in range(48)], empty).doubt()
    assert doubt is not None
    assert doubt.settled


def test_seconds_hidden_in_a_single_block_are_doubted_at_once() -> None:
    doubt = clock([(1_000_000, 3_000_000_000)]).doubt()
    assert doubt is not None
    assert doubt.settled


def test_too_few_or_too_dear_empty_blocks_confirm_nothing() -> None:
    assert not clock(honest(20), EMPTY[:5]).confirms()
    assert not clock(honest(20, block=300_000), [*EMPTY, (100, 400_000), (100, 400_000)]).confirms()
    assert not OuterClock(empty=EMPTY).confirms()


def test_blocks_are_sized_by_their_handshake_within_bounds() -> None:
    assert clock([]).block_target_ns(1_000_000, 5_000_000) == 20 * 114_400
    assert clock([], [(100, 10_100)]).block_target_ns(1_000_000, 5_000_000) == 1_000_000
    assert clock([], [(100, 10_000_000)]).block_target_ns(1_000_000, 5_000_000) == 5_000_000


@given(st.lists(st.tuples(st.integers(1, 10**9), st.integers(0, 10**5)), min_size=1, max_size=40))
def test_a_claim_within_a_handshake_of_the_wait_is_never_doubted(blocks: list[tuple[int, int]]) -> None:
    assert clock([(claim, claim + over) for claim, over in blocks]).doubt() is None
