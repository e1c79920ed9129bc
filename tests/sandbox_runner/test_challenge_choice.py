"""Which parts of a result are revealed: the same for every variant of one seed, whatever type it answers in."""

import random

import pytest

from sandbox_runner.challenge import Challenges


@pytest.mark.parametrize("elements", [1, 8_192, 60_000, 65_536, 65_537, 100_000, 1_000_000])
def test_results_of_one_shape_reveal_the_same_chunks_in_every_type(elements: int) -> None:
    for share in range(20):
        challenges = Challenges((), (), n=elements, rng=random.Random(share))  # noqa: S311 - a test
        challenges._share = share / 20
        chosen = [
            challenges._choose((("value", dtype, (elements,), elements * width),))
            for dtype, width in (("float64", 8), ("float32", 4), ("float16", 2), ("bfloat16", 2))
        ]
        assert all(one == chosen[0] for one in chosen)
        assert chosen[0][0]
