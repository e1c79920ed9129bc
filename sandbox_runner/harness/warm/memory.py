"""The parent's memory made ready for forks: nothing in it is shared with a child, and what is copied on write is cheap.

Law: a mapping that a child could write and the parent or the next child could read must not exist; `shared` looks for
one, and whoever forks refuses while it finds any. Sizes in bytes.
"""

import gc
import os
import struct
import weakref
from collections.abc import Iterator

from . import kernel

_COLLAPSE = 25
"""MADV_COLLAPSE (Linux 6.1): pages of 2 MiB now. A fork then copies one entry in the place of 512."""
_HUGE = 2 << 20
_STACK = 8 << 10


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


def others() -> dict[str, int]:
    """Give the other threads of this process, each with how often it has been switched away from.

    A thread whose number stays the same has not run: it holds what it held, and forks find what they found before.
    """
    found = {}
    for name in os.listdir("/proc/self/task"):
        if int(name) != os.getpid():
            with open(f"/proc/self/task/{name}/status", encoding="ascii", errors="replace") as status:
                lines = (line.partition(":") for line in status)
                found[name] = sum(int(value) for key, _, value in lines if key.endswith("ctxt_switches"))
    return found


def whose(thread: str) -> str:
    """Say whose a thread is, as far as its stack tells: its name, what it waits in, the libraries it came from."""
    libraries: dict[str, None] = {}
    try:
        with open(f"/proc/self/task/{thread}/syscall", encoding="ascii") as asleep:
            words = asleep.read().split()
        with open("/proc/self/mem", "rb", buffering=0) as memory:
            memory.seek(int(words[-2], 16))
            content = memory.read(_STACK)
        code = [(start, start + size, path) for start, size, path in _code()]
        for (word,) in struct.iter_unpack("=Q", content[: len(content) // 8 * 8]):
            libraries.update({path: None for start, end, path in code if start <= word < end})
        with open(f"/proc/self/task/{thread}/comm", encoding="utf-8", errors="replace") as comm:
            name = comm.read().strip()
    except (OSError, ValueError, IndexError) as fault:
        return f"{thread} ({fault})"
    return f"{name} in call {words[0]} of {', '.join(list(libraries)[:5])}"


def _code() -> Iterator[tuple[int, int, str]]:
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            fields = line.split(None, 5)
            if "x" in fields[1] and len(fields) == 6:  # noqa: PLR2004 - with the path
                start, end = (int(word, 16) for word in fields[0].split("-"))
                yield start, end - start, os.path.basename(fields[5].strip())


def _regions(rights: str, kind: str) -> Iterator[tuple[int, int]]:
    """Give start and size of the mappings that have all these rights, shared (`s`) or private (`p`)."""
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        lines = maps.read().splitlines()
    for line in lines:
        place, has = line.split(None, 2)[:2]
        if set(rights) <= set(has[:3]) and has[3] == kind:
            start, end = (int(word, 16) for word in place.split("-"))
            yield start, end - start
