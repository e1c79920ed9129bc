"""Which parts of a result are revealed, the same for every variant of a seed; which tales of inputs are believed."""

import random

import pytest

from sandbox_runner.asking import Prepared, Seat
from sandbox_runner.challenge import Challenges
from sandbox_runner.channel import Tampered


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


class Telling:
    """A harness that tells of inputs prepared whatever it is given to tell."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared

    async def ask(self, _kind: type, _op: str, **_fields: object) -> tuple[Prepared, bytes, int]:
        """Answer as any question is answered."""
        return self._prepared, b"", 1


@pytest.mark.parametrize(
    "told", [Prepared(""), Prepared("aside"), Prepared("apart", -1, 0), Prepared("apart", 0, 10**400)]
)
async def test_inputs_made_apart_as_no_harness_makes_them_are_not_believed(told: Prepared) -> None:
    seat = Seat(Telling(told))  # type: ignore[arg-type]
    challenges = Challenges((seat,), (), n=1, rng=random.Random(1))  # noqa: S311 - a test
    with pytest.raises(Tampered):
        await challenges.prepare(0, 1, apart=True)
