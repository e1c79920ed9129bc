"""How fast one connection may send: a bucket of tokens, with time as an argument."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Pace:
    """Allows `burst` frames at once and `per_s` a second after that; the rest waits, nothing is refused."""

    per_s: float
    burst: int
    _owed: float = field(default=0.0, init=False)
    _at: float = field(default=0.0, init=False)

    def delay(self, now: float) -> float:
        """Count one frame that came at `now` (seconds, any clock that only rises); give the seconds to wait with it."""
        self._owed = max(0.0, self._owed - (now - self._at) * self.per_s) + 1.0
        self._at = now
        return max(0.0, (self._owed - self.burst) / self.per_s)
