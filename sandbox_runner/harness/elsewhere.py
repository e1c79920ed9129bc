"""Has inputs made in a process that ends with it: what `make` keeps beside them is then known to nobody here.

Law: what crosses is between two processes of the learner's and is trusted by none of ours; what cannot cross, or is too
much, is said to be so. Nothing is waited for without an end. Private references are taken at import.
"""

import contextlib
import functools
import io
import os
import pickle
import resource
import select
import signal
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import blocks

_fork, _pipe, _exit, _waitpid, _kill = os.fork, os.pipe, os._exit, os.waitpid, os.kill
_open, _readv, _write, _close, _dup2 = open, os.readv, os.write, os.close, os.dup2
_loads = pickle.loads
_poll, _limit, _close_range = select.poll, resource.setrlimit, os.closerange
_modules = sys.modules
_STANDARD = sys.stdlib_module_names

MOST_BYTES = 128 << 20
_WAIT_MS, _CHUNK, _MOST_OPEN = 3000, 1 << 20, 1 << 16
_SIZE = struct.Struct(">Q")
_SEMAPHORE = b" /dev/shm/sem."  # torch's compiler has some
_REMEMBERING = type(functools.lru_cache(len))


@dataclass(frozen=True, slots=True)
class Crossed:
    """What came of it: `made` inputs, one a seed, where `how` is `apart`; else `large`, or `not`.

    `arrays` and `others` are the bytes that crossed, of arrays and of all else.
    """

    how: str
    made: list[blocks.Inputs] = field(default_factory=list)
    arrays: int = 0
    others: int = 0


class _Pickler(pickle.Pickler):
    """Lets plain tensors cross as arrays do: torch writes an archive for each, which takes a millisecond."""

    def reducer_override(self, value: Any) -> Any:  # noqa: ANN401 - as pickle says it
        torch: Any = _modules.get("torch")
        if torch is None or type(value) is not torch.Tensor or value.layout is not torch.strided:
            return NotImplemented
        alike = torch.float32, torch.float64, torch.float16, torch.int64, torch.int32, torch.uint8, torch.bool
        if value.requires_grad or not value.is_contiguous() or value.dtype not in alike:
            return NotImplemented
        return torch.from_numpy, (value.numpy(),)


def made_apart(make: Callable[[int], blocks.Inputs], seeds: Sequence[int], sink: int) -> Crossed:
    """Call `make` with each seed in a process of its own, its output swallowed by `sink`, and take what it gives."""
    try:
        ours, theirs = _pipe()
    except OSError:
        return Crossed("not")
    try:
        child = _fork()
    except (OSError, RuntimeError):
        _close(ours)
        _close(theirs)
        return Crossed("not")
    if child == 0:
        _be_the_other(make, seeds, sink, theirs)
    _close(theirs)
    try:
        return _taken(ours)
    finally:
        _close(ours)
        with contextlib.suppress(OSError):
            _kill(child, signal.SIGKILL)
        with contextlib.suppress(OSError):
            _waitpid(child, 0)


def forget(own: Mapping[str, object]) -> None:
    """Let the standard library forget the answers that it remembers, but not what `own` names."""
    for name, module in list(_modules.items()):
        names = getattr(module, "__dict__", own)
        if name.partition(".")[0] in _STANDARD and names is not own:
            for value in list(names.values()):
                if type(value) is _REMEMBERING:
                    value.cache_clear()
    if (expressions := _modules.get("re")) is not None:
        expressions.purge()


def _be_the_other(make: Callable[[int], blocks.Inputs], seeds: Sequence[int], sink: int, to: int) -> None:
    """Make, write and end, whatever happens: this process goes nowhere else."""
    try:
        for number in (1, 2):
            _dup2(sink, number)
        if not _alone(to):
            _send(to, b"not")
            _exit(0)
        if (torch := _modules.get("torch")) is not None:
            torch.set_num_threads(1)  # the threads of a pool are not in the copy of a process
        found: list[blocks.Inputs] = []
        for seed in seeds:
            made = make(seed)
            places = [place for value in made.values() for place in blocks.bytes_of(value)]
            if any(where != "cpu" for where, _ in places) or sum(size for _, size in places) > MOST_BYTES // len(seeds):
                _send(to, b"large" if all(where == "cpu" for where, _ in places) else b"not")
                _exit(0)
            found.append(made)
        buffers: list[pickle.PickleBuffer] = []
        written = io.BytesIO()
        _Pickler(written, protocol=5, buffer_callback=buffers.append).dump(found)
        main = written.getvalue()
        raw = [buffer.raw() for buffer in buffers]
        if len(main) + sum(each.nbytes for each in raw) > MOST_BYTES:
            _send(to, b"large")
            _exit(0)
        _send(to, b"apart")
        _send(to, main)
        for each in raw:
            _send(to, each)
        _exit(0)
    finally:
        _exit(1)


def _alone(to: int) -> bool:
    """Close and forbid what leads out of this process but `to`; whether nothing else is left that does."""
    _close_range(3, to)
    _close_range(to + 1, _MOST_OPEN)
    _limit(resource.RLIMIT_FSIZE, (0, 0))  # no file holds an answer
    with _open("/proc/self/maps", "rb") as maps:
        shared = [line for line in maps if line.split(maxsplit=2)[1] == b"rw-s"]
    return all(_SEMAPHORE in line for line in shared)


def _send(to: int, part: bytes | memoryview) -> None:
    with memoryview(part).cast("B") as view:
        for what in (memoryview(_SIZE.pack(len(view))), view):
            at = 0
            while at < len(what):
                at += _write(to, what[at : at + _CHUNK])


def _taken(from_: int) -> Crossed:
    how = bytes(_part(from_) or b"not").decode()
    if how != "apart":
        return Crossed(how)
    main = _part(from_)
    buffers: list[bytearray] = []
    while main is not None and (buffer := _part(from_)) is not None:
        buffers.append(buffer)
    try:
        made = _loads(main or b"", buffers=buffers)
    except Exception:  # noqa: BLE001 - what does not come back, or not whole, has not crossed
        return Crossed("not")
    return Crossed("apart", made, sum(map(len, buffers)), len(main or b""))


def _part(from_: int) -> bytearray | None:
    """Read one part; None where there is no more, or nothing comes for some seconds."""
    head = _exactly(from_, _SIZE.size)
    return None if head is None else _exactly(from_, min(_SIZE.unpack(head)[0], MOST_BYTES + 1))


def _exactly(from_: int, size: int) -> bytearray | None:
    found = bytearray(size)
    view, at = memoryview(found), 0
    waiting = _poll()
    waiting.register(from_, select.POLLIN)
    while at < size:
        if not waiting.poll(_WAIT_MS) or not (came := _readv(from_, [view[at : at + _CHUNK]])):
            return None
        at += came
    return found
