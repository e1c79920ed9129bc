"""The parent's memory made ready for forks: nothing in it is shared with a child, and what is copied on write is cheap.

Law: a mapping that a child could write and the parent or the next child could read must not exist; `shared` looks for
one, and whoever forks refuses while it finds any. Sizes in bytes.
"""

import gc
import weakref
from collections.abc import Iterator

from . import kernel

_COLLAPSE = 25
"""MADV_COLLAPSE (Linux 6.1): pages of 2 MiB now. A fork then copies one entry in the place of 512."""
_HUGE = 2 << 20


def settle() -> int:
    """Take what is there out of the collector's sight, and give it large pages; give their number."""
    for start, size in _regions("rw", "s"):
        kernel.own_copy(start, size)
    for hook in list(weakref.finalize._registry):  # type: ignore[attr-defined]  # noqa: SLF001 - there is no other way
        hook.atexit = False  # torch gives back its operators one by one at a child's end, for nobody
    gc.collect()
    gc.freeze()
    gc.disable()
    return large()


def large() -> int:
    """Join pages into large ones where the kernel does; give the number of those."""
    done = 0
    for start, size in list(_regions("rw", "p")):
        first = -(-start // _HUGE) * _HUGE
        for place in range(first, (start + size) // _HUGE * _HUGE, _HUGE):
            done += kernel.advise(place, _HUGE, _COLLAPSE)
    return done


def shared() -> list[str]:
    """Name the mappings that a forked child could write for others to read: there must be none."""
    return [f"{start:#x}" for start, _ in _regions("w", "s")]


def _regions(rights: str, kind: str) -> Iterator[tuple[int, int]]:
    """Give start and size of the mappings that have all these rights, shared (`s`) or private (`p`)."""
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        lines = maps.read().splitlines()
    for line in lines:
        place, has = line.split(None, 2)[:2]
        if set(rights) <= set(has[:3]) and has[3] == kind:
            start, end = (int(word, 16) for word in place.split("-"))
            yield start, end - start
