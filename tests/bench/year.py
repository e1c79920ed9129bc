"""A simulated year of learners with lapses: how well the mastery that is shown agrees with what they truly know.

The learners are not made by the rule under test: each topic is truly known or not, is learned by practice, forgotten in
breaks, and answered with slips and lucky guesses (a hidden Markov chain, as in Bayesian knowledge tracing). Beside the
agreement of what is shown stands that of an observer who knows every parameter of the chain: nobody could do better.
"""

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from bot.engine.remembering import mastery
from bot.engine.remembering.mastery import Difficulty, Status, Topic

LEARNERS, DAYS, TOPICS, ITEMS = 300, 365, 8, 8
BEFORE, LEARN, SLIP = 0.2, 0.15, 0.08
"""Topics known at the start; learned by one practice; known and answered wrongly all the same."""
FORGET = 0.004
"""A day, for a topic that is not practised that day."""
FIRST = date(2026, 1, 1)


@dataclass(frozen=True, slots=True)
class Agreement:
    """What came of a simulation: pairs of what was shown and what was true, and how well they agree."""

    looks: int
    answers: int
    auc: float
    best_auc: float
    known_where_mastered: float
    known_where_growing: float


def auc(scored: Sequence[tuple[float, bool]]) -> float:
    """Give the chance that a known topic is shown higher than an unknown one; ties count half (Mann-Whitney)."""
    ranked = sorted(scored)
    ranks, start = 0.0, 0
    while start < len(ranked):
        end = start
        while end < len(ranked) and ranked[end][0] == ranked[start][0]:
            end += 1
        ranks += (start + end + 1) / 2 * sum(known for _, known in ranked[start:end])
        start = end
    right = sum(known for _, known in ranked)
    wrong = len(ranked) - right
    return (ranks - right * (right + 1) / 2) / (right * wrong) if right and wrong else 0.5


def simulate(seed: int, learners: int = LEARNERS, days: int = DAYS) -> Agreement:
    """Let learners practise, lapse and come back; look at every begun topic once a week."""
    chance = random.Random(seed)  # noqa: S311 - a simulation
    guess = {(t, i): chance.uniform(0.1, 0.35) for t in range(TOPICS) for i in range(ITEMS)}
    slip = {key: chance.uniform(0.5, 2.0) * SLIP for key in guess}
    items: dict[tuple[int, int], Difficulty] = {}
    everyone = [_Learner(chance) for _ in range(learners)]
    scored: list[tuple[float, bool]] = []
    best: list[tuple[float, bool]] = []
    mastered: list[bool] = []
    growing: list[bool] = []
    answers = 0
    for number in range(days):
        today = FIRST + timedelta(days=number)
        for one in everyone:
            for topic in one.topics_of(number):
                item = (topic, chance.randrange(ITEMS))
                right = chance.random() < (1 - slip[item] if one.knows[topic] else guess[item])
                kept, hard = one.kept.get(topic, Topic()), items.get(item, Difficulty())
                one.kept[topic], items[item] = mastery.answered(kept, hard, first=right, day=today)
                one.practised(topic)
                one.judged(topic, right=right, guess=guess[item], slip=slip[item])
                answers += 1
            one.slept()
            if number % 7 == 6:
                for topic, kept in one.kept.items():
                    hard_on_the_whole = sum(items.get((topic, i), Difficulty()).value for i in range(ITEMS)) / ITEMS
                    seen = mastery.seen(kept, hard_on_the_whole)
                    scored.append((seen.chance, one.knows[topic]))
                    best.append((one.belief[topic], one.knows[topic]))
                    (mastered if seen.status is Status.MASTERED else growing).append(one.knows[topic])
    return Agreement(len(scored), answers, auc(scored), auc(best), _share(mastered), _share(growing))


class _Learner:
    """Someone with habits of their own, who goes away for weeks and comes back."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.knows = [chance.random() < BEFORE for _ in range(TOPICS)]
        self.kept: dict[int, Topic] = {}
        self.belief = [BEFORE] * TOPICS
        self._eager = chance.uniform(0.15, 0.8)
        self._away = 0
        self._today: set[int] = set()

    def topics_of(self, day: int) -> list[int]:
        """Give the topics of today's answers; the course is gone through in half a year."""
        self._today = set()
        if self._away == 0 and self._chance.random() < 0.02:
            self._away = self._chance.randrange(7, 45)
        if self._away > 0:
            self._away -= 1
            return []
        if self._chance.random() > self._eager:
            return []
        reached = min(TOPICS, 1 + day * TOPICS // 180)
        return [self._chance.randrange(reached) for _ in range(self._chance.randrange(1, 9))]

    def practised(self, topic: int) -> None:
        self._today.add(topic)
        self.knows[topic] = self.knows[topic] or self._chance.random() < LEARN

    def judged(self, topic: int, *, right: bool, guess: float, slip: float) -> None:
        """Let the observer who knows everything but the truth take the answer in."""
        before = self.belief[topic]
        known = before * ((1 - slip) if right else slip)
        unknown = (1 - before) * (guess if right else 1 - guess)
        after = known / (known + unknown)
        self.belief[topic] = after + (1 - after) * LEARN

    def slept(self) -> None:
        for topic in range(TOPICS):
            if topic not in self._today and self._chance.random() < FORGET:
                self.knows[topic] = False
            if topic not in self._today:
                self.belief[topic] *= 1 - FORGET


def _share(known: Sequence[bool]) -> float:
    return sum(known) / len(known) if known else 0.0


def main() -> None:
    """Print the agreement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learners", type=int, default=LEARNERS)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    found = simulate(chosen.seed, chosen.learners)
    told = {
        "benchmark": "year",
        "learners": chosen.learners,
        "days": DAYS,
        "answers": found.answers,
        "looks": found.looks,
        "auc": round(found.auc, 3),
        "auc_of_the_best_observer": round(found.best_auc, 3),
        "truly_known_where_shown_mastered": round(found.known_where_mastered, 3),
        "truly_known_where_not": round(found.known_where_growing, 3),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
