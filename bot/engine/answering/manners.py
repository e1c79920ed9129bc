"""What a text is beside what it is about: a follow-up, a greeting, an order to the bot, a question at all.

Law: only whole short texts are read so, apart from orders; a text that names a term of the lessons is a question, and
courtesies in it are passed over.
"""

from collections.abc import Iterable
from typing import Literal

from bot.engine.answering.carrying import Carries, Followup
from bot.engine.answering.normalise import words
from bot.engine.letters import fold
from content.schema import Speech

Talk = Literal["greeting", "thanks", "insult", "who", "bye"]

_SHORT = 6
"""Words of a text that is small talk."""
_ASKS = 3
"""Words from which a text with a question mark asks something; shorter ones may be an unsure answer."""


class Manners:
    """The course's lists, ready to be looked up."""

    def __init__(self, speech: Speech) -> None:
        self._followups: dict[str, Followup] = {
            form: kind for kind, forms in speech.followups.items() for form in _folded(forms)
        }
        self._talk: dict[str, Talk] = {form: kind for kind, forms in speech.talk.items() for form in _folded(forms)}
        self._orders = tuple(_folded(speech.orders))
        self._carries = Carries(speech)
        self._asking = frozenset(_folded(speech.asking))

    def followup(self, text: str) -> Followup | None:
        """Give how a short text carries on from an answer."""
        return self._followups.get(_joined(text)) or self._carries.read(words(text))

    def talk(self, text: str) -> Talk | None:
        """Give what a short text says that asks for nothing."""
        said = words(text)
        whole = self._talk.get(" ".join(said))
        if whole or not said or len(said) > _SHORT:
            return whole
        starts = {self._talk.get(" ".join(said[:size])) for size in range(1, len(said))}
        inside = {
            self._talk.get(" ".join(said[i:j])) for i in range(len(said)) for j in range(i + 1, len(said) + 1)
        } & {"insult", "who"}
        found: set[Talk | None] = {*inside, *starts} if inside else starts
        return next((kind for kind in ("insult", "who", "greeting", "thanks", "bye") if kind in found), None)

    def gives_orders(self, text: str) -> bool:
        """Tell whether a text tries to give the bot orders."""
        said = f" {_joined(text)} "
        return any(f" {order} " in said for order in self._orders)

    def asks(self, text: str) -> bool:
        """Tell whether a text asks something."""
        said = words(text)
        marked = "؟" in text or "?" in text
        return bool(said) and ((said[0] in self._asking and len(said) > 1) or (marked and len(said) >= _ASKS))


def _joined(text: str) -> str:
    return " ".join(words(text))


def _folded(forms: Iterable[str]) -> Iterable[str]:
    return (fold(form) for form in forms)
