"""The learner's process: run as a program, it takes the harness off the path and does what the parent asks.

Law: everything of ours is imported before any of the learner's code runs, then nothing of ours can be imported any
more, and nothing that decides a verdict lives here. Arguments: the learner's file, the channel's descriptor.
"""

import faulthandler
import importlib
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence


def main() -> None:
    """Play as the command line says."""
    play(sys.argv[1], int(sys.argv[2]), None, None)


def play(path: str, descriptor: int, awake: Callable[[int, bytes], None] | None, ours: Sequence[str] | None) -> None:
    """Answer the first question, `start`, then serve as its `kind` says: `run` or `time`.

    A warm start, whose libraries were loaded before the number of threads was known, gives `awake` to tell them, as
    the code needs; and `ours`, the names of what is ours among the loaded modules: to look for them would touch the
    memory of thousands.
    """
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    wire = importlib.import_module("tasree_harness.wire")
    line = wire.Line(descriptor)
    asked = line.receive()
    serve = importlib.import_module(
        {"run": "tasree_harness.running", "time": "tasree_harness.timing"}[asked["kind"]]
    ).serve
    threads = importlib.import_module("tasree_harness.threads").NAMES
    sys.path.remove(folder)
    for name in find_ours() if ours is None else ours:
        del sys.modules[name]
    os.set_inheritable(descriptor, False)  # noqa: FBT003 - the library's own shape
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    faulthandler.enable()
    for stream, errors in ((sys.stdout, "strict"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors, line_buffering=True)
    for name in threads:
        os.environ[name] = str(int(asked.get("threads", 1)))
    with open(path, "rb") as file:
        content = file.read()
    if awake is not None:
        awake(int(asked.get("threads", 1)), content)
    sys.argv = [path]
    line.answer(asked["nonce"], python=sys.version.partition(" ")[0])
    serve(line, content.decode("utf-8", "surrogatepass"), path)


def find_ours() -> list[str]:
    """Name what is ours among the loaded modules."""
    return [name for name in sys.modules if name.partition(".")[0] == "tasree_harness"]


if __name__ == "__main__":
    main()
