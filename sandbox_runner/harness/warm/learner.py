"""The learner's process of a warm child: made to look like a Python that has just begun, and left as one is left.

Law: it holds nothing of the keeper's, and whatever its siblings also inherited and must not share (chance, hooks,
handlers, threads' number) is made anew before the learner's code is read. It never comes back into our code's caller.
"""

import atexit
import contextlib
import ctypes
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import ModuleType

from .. import play  # noqa: TID252 - the harness is a package of another name inside
from . import kernel, preloading
from .waiting import Waiting
from .walls import BUILDING, COMPILED

_BEYOND = 4
_WEAKEST = "1000"
_HEADERS = "precompiled_headers"
_exit = os._exit


def begin(path: str, channel: int, argv: list[str], ours: list[str], *, compiles: bool) -> None:
    """Serve the runner as the learner's process; does not return.

    `ours` names our loaded modules; `compiles`: all that was compiled may help.
    """
    os.closerange(_BEYOND, 1 << 16)
    _look_fresh(argv)
    _serve(lambda: path, channel, ours, compiles=compiles)


def begin_waiting(waiting: Waiting, channel: int, argv: list[str], ours: list[str]) -> None:
    """The same for a child that waits for its job; its file is known only then."""
    os.closerange(waiting.hold(), 1 << 16)
    _look_fresh(argv)
    _serve(waiting.stand, channel, ours, compiles=True)


def _look_fresh(argv: list[str]) -> None:
    kernel.control(kernel.DUMPABLE, 1)  # as after an exec
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
        score.write(_WEAKEST)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv, sys.orig_argv = list(argv), list(argv)
    gc.enable()


def _serve(path: Callable[[], str], channel: int, ours: list[str], *, compiles: bool) -> None:
    status = 1
    try:
        link_compiled(whole=compiles, building=os.path.isdir(BUILDING))
        play.play(path(), channel, preloading.awake, ours)
        status = 0
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else int(left.code is not None)
    except BaseException:  # noqa: BLE001 - told as Python tells it at its end
        sys.excepthook(*sys.exc_info())
    leave(status)


def leave(status: int) -> None:
    """End as Python does: threads, exit hooks, streams, what `__main__` holds; but not all that the parent loaded.

    Tearing that down would copy every page of it, for nobody to see.
    """
    joined = threading._shutdown  # type: ignore[attr-defined]  # noqa: SLF001 - what Python itself calls at its end
    for step in (joined, atexit._run_exitfuncs, _clear_main, gc.collect):  # noqa: SLF001 - the same
        with contextlib.suppress(BaseException):
            step()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(BaseException):
                stream.flush()
    ctypes.CDLL(None).fflush(None)
    with contextlib.suppress(OSError):  # whoever reads them need not wait for what the kernel clears away of us
        null = os.open(os.devnull, os.O_WRONLY)
        for number in (1, 2):
            os.dup2(null, number)
    _exit(status & 0xFF)


def _clear_main() -> None:
    """Let go of what `__main__` holds, in Python's own order: names with one underscore first."""
    main = sys.modules.get("__main__")
    if type(main) is not ModuleType:
        return
    names = vars(main)
    private = [name for name in names if name.startswith("_") and not name.startswith("__")]
    for name in [*private, *(name for name in list(names) if name not in private and name != "__builtins__")]:
        names[name] = None


def link_compiled(*, whole: bool, building: bool) -> None:
    """Put links to what we compiled where torch's compiler looks: all, or the header alone, without which none works.

    Where it is to be made or added to (`building`), a folder to be written takes their place.
    """
    base = f"/tmp/torchinductor_{os.environ.get('USER', 'learner')}"  # noqa: S108 - where torch itself puts it
    if building:
        os.symlink(BUILDING, base)
        return
    for folder, names in kept(whole=whole):
        there = os.path.normpath(os.path.join(base, os.path.relpath(folder, COMPILED)))
        os.makedirs(there, 0o700, exist_ok=True)
        for name in names:
            os.symlink(os.path.join(folder, name), os.path.join(there, name))


def kept(*, whole: bool) -> Iterator[tuple[str, list[str]]]:
    """Give each folder of what we compiled, and its files to be linked."""
    for folder, folders, files in os.walk(COMPILED):
        if folder == COMPILED and not whole:
            folders[:] = [name for name in folders if name == _HEADERS]
        yield folder, [name for name in files if not name.endswith(".lock") and folder != COMPILED]
