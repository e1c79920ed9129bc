"""A learners' interpreter that has imported what is slow to import, and forks once for each program that a test runs.

Law: a program finds what it would find alone: a `__main__` of its own, its output in files of its own, no arguments.
Only numpy and torch are there before it imports them; nothing has been computed, so no threads cross the fork.
"""

import json
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_PROGRAM = r"""
import json, os, signal, socket, sys, types
try:
    import numpy, torch, torch._dynamo
except ImportError:
    pass
line = socket.socket(fileno=int(sys.argv.pop()))
harnesses = set()

def serve(order, source, channel, _):
    line.close()
    sys.path.insert(0, order["serve"])
    from harness.timing import serve
    from harness.wire import Line
    del sys.path[0]
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    serve(Line(channel), source, "code.py")
    os._exit(0)

def work(order, source, out, err):
    line.close()
    for fd, place in ((os.open(os.devnull, os.O_RDONLY), 0), (out, 1), (err, 2)):
        os.dup2(fd, place)
    signal.alarm(order["seconds"])
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__dict__.update(__file__=order["file"], __builtins__=__builtins__)
    code = 0
    try:
        exec(compile(source, order["file"], "exec", dont_inherit=True), main.__dict__)
    except SystemExit as asked:
        code = asked.code if isinstance(asked.code, int) else int(asked.code is not None)
    except BaseException:
        import traceback
        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)

while True:
    harnesses = {each for each in harnesses if not os.waitpid(each, os.WNOHANG)[0]}
    said, fds, _, _ = socket.recv_fds(line, 1 << 16, 3)
    if not said:
        break
    with open(fds[0], encoding="utf-8") as file:
        source = file.read()
    order = json.loads(said)
    child = os.fork()
    if not child:
        (serve if "serve" in order else work)(order, source, *fds[1:])
    for fd in fds[1:]:
        os.close(fd)
    if "serve" in order:
        harnesses.add(child)
    else:
        line.send(json.dumps(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())
"""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended (minus the signal's number where one ended it), and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class WarmPython:
    """The interpreter, at the other end of a line."""

    line: socket.socket

    def run(self, source: str, *, file: str = "<string>", seconds: int = 110) -> Ran:
        """Run a program whose file is said to be `file`; after so many seconds it is ended by a signal."""
        with tempfile.TemporaryFile() as program, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            program.write(source.encode())
            program.seek(0)
            order = json.dumps({"file": file, "seconds": seconds}).encode()
            socket.send_fds(self.line, [order], [one.fileno() for one in (program, out, err)])
            code = int(json.loads(self.line.recv(1 << 10)))
            texts = []
            for written in (out, err):
                written.seek(0)
                texts.append(written.read().decode())
        return Ran(code, *texts)

    def serve(self, source: str, package: Path) -> socket.socket:
        """Have the harness in `package` serve a source; give our end of the channel, at whose closing it ends."""
        ours, theirs = socket.socketpair()
        with tempfile.TemporaryFile() as program, theirs:
            program.write(source.encode())
            program.seek(0)
            order = json.dumps({"serve": str(package)}).encode()
            socket.send_fds(self.line, [order], [program.fileno(), theirs.fileno(), theirs.fileno()])
        return ours


@contextmanager
def warm_python(python: Path) -> Iterator[WarmPython]:
    """Give the interpreter `python`, and end it afterwards."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    program = [str(python), "-I", "-B", "-c", _PROGRAM, str(theirs.fileno())]
    with subprocess.Popen(program, pass_fds=[theirs.fileno()]):
        theirs.close()
        with ours:
            yield WarmPython(ours)
