"""Many updates with faults of every kind: at the end all counts agree."""

import os
import random
from collections.abc import Callable

import pytest
from botapi.place import Place
from botapi.world import Fault

from bot.posting.ports import State

UPDATES = int(os.environ.get("TASREE_SOAK_UPDATES", "20000"))
LEARNERS = 50
FAULTS = 0.03


@pytest.mark.soak
async def test_twenty_thousand_updates_with_faults_agree_in_every_count(
    place: Place, record_property: Callable[[str, object], None]
) -> None:
    chance = random.Random(3)  # noqa: S311 - chance that comes again
    injected: dict[str, int] = {}
    quiet = False

    def trouble(method: str, _: dict[str, object]) -> Fault | None:
        if quiet or method in {"getUpdates", "answerCallbackQuery"} or chance.random() >= FAULTS:
            return None
        fault = chance.choice([one for one in Fault if one not in {Fault.SILENT_AFTER, Fault.SILENT_BEFORE}])
        injected[fault] = injected.get(fault, 0) + 1
        return fault

    place.world.trouble = trouble
    learners = [place.person(user) for user in range(1000, 1000 + LEARNERS)]
    rounds = UPDATES // LEARNERS
    async with place.bot(again_s=0.01) as bot:
        for number in range(rounds):
            for learner in learners:
                learner.send(f"ضضض{number:05}")
            if number % 20 == 19:
                await learners[0].until(lambda: not place.world.updates, 300)
                place.world.deliver_again(5)
        await learners[0].until(lambda: not place.world.updates, 300)
        await bot.idle()
        quiet = True
        kept = bot.store.outbox()
        assert await kept.behind("telegram") == ()
        assert await kept.left("telegram") == ()
        unsure = 0
        for learner in learners:
            row = await bot.app.enter("telegram", str(learner.user), greet=False)
            said = await bot.app.since(row.id, 0)
            assert len(said) == rounds
            states = [part.state for one in said for part in await kept.parts(row.id, one.number)]
            assert set(states) <= {State.SENT, State.OFFERED}
            lost = states.count(State.OFFERED)
            unsure += lost
            texts = [note.text for note in learner.screen()]
            shown = [sum(f"ضضض{number:05}" in text for text in texts) for number in range(rounds)]
            assert max(shown) == 1
            assert shown.count(0) <= lost
        record_property("updates", rounds * LEARNERS)
        record_property("faults", sum(injected.values()))
        record_property("unsure", unsure)
    place.world.refusals = [one for one in place.world.refusals if "not modified" not in one]
