"""Makes this process the one that orphans of its jobs fall to, and reaps them: a host's init may not, or be us.

Law: only what nobody else waits for is reaped, which is what has been dead for a while.
"""

import contextlib
import ctypes
import os
import time
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_UNWANTED_S = 1.0


class Reaper:
    """Reaps the orphans that fell to this process."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc
        self._dead: dict[tuple[int, str], float] = {}

    def adopt(self) -> None:
        """Let orphans below this process fall to it rather than to the host's init."""
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def reap(self) -> int:
        """Reap the children that were dead already when this was called more than a second ago; count them."""
        now = time.monotonic()
        dead = {child: self._dead.get(child, now) for child in self._zombies()}
        unwanted = [child for child, since in dead.items() if now - since > _UNWANTED_S]
        for child in unwanted:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child[0], os.WNOHANG)
            del dead[child]
        self._dead = dead
        return len(unwanted)

    def _zombies(self) -> list[tuple[int, str]]:
        """Name our dead children by pid and time of birth."""
        found = []
        for tasks in self._proc.glob("self/task/*/children"):
            for pid in _text(tasks).split():
                fields = _text(self._proc / pid / "stat").rpartition(")")[2].split()
                if len(fields) > 19 and fields[0] == "Z":  # noqa: PLR2004 - proc(5): state is the third, starttime the 22nd
                    found.append((int(pid), fields[19]))
        return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
