"""Tells of an exception of the learner's: name, last line, the learner's own line; its traceback goes to stderr.

Law: the exception may be hostile: its text may be huge, may raise, may be no text at all. Frames of ours are not
shown, long ones are folded, the last line is always kept. Standard library only.
"""

import contextlib
import errno
import linecache
import os
import sys
import traceback
from types import TracebackType
from typing import Any

Said = dict[str, object]
_fork, _wait, _exit = os.fork, os.waitpid, os._exit

_LONGEST_LAST = 500
_LONGEST_TEXT = 8192
_MOST_FRAMES = 24
_MOST_CHAIN = 5
_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
_NETWORK_ERRORS = {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL}


def tell(wrong: BaseException, filename: str, *, syntax: bool = False) -> Said:
    """Write the traceback to stderr and say what is to be reported; `syntax` marks code that never ran.

    Raises nothing: whatever the exception does, at least its name is told.
    """
    name = _safe(lambda: type(wrong).__name__, "Exception")[:80]
    kind = type(wrong)  # an instance may lie about its class, or raise when asked for it
    if issubclass(kind, SystemExit):
        return _exit_told(wrong, name)
    number = _get(OSError, "errno", wrong) if issubclass(kind, OSError) else None
    refused = number == errno.EAGAIN and _is_refused()  # at once: what fills the limit may end any moment
    text = _safe(lambda: _text(wrong), name)
    _show(_safe(lambda: _trace(wrong, text), text + "\n"))
    said: Said = {"name": name, "last_line": _clip(_last_line(text) or name, _LONGEST_LAST)}
    said["line"] = _safe_line(wrong, filename)
    if syntax:
        said["syntax"] = True
    said |= {"errno": number} if type(number) is int else {}
    said |= {"refused": True} if refused else {}
    with contextlib.suppress(BaseException):
        said |= {"network": True} if _of_network(wrong) else {}
    return said


def _is_refused() -> bool:
    """Whether another process is refused now; the errno of that is also that of a pipe with nothing to read."""
    try:
        child = _fork()
    except OSError as failed:
        return failed.errno == errno.EAGAIN  # for want of memory it fails otherwise, and that is no limit of processes
    if child == 0:
        _exit(0)
    with contextlib.suppress(OSError):
        _wait(child, 0)
    return False


def _get(kind: type[BaseException], name: str, wrong: BaseException) -> Any:  # noqa: ANN401 - whatever is kept there
    """Read a field of an exception past whatever its own class does on access."""
    return kind.__dict__[name].__get__(wrong)


def _exit_told(wrong: BaseException, name: str) -> Said:
    code = _get(SystemExit, "code", wrong)
    status = 0 if code is None else code if type(code) is int else 1
    if code is not None and type(code) is not int:
        _show(_clip(_safe(lambda: str(code), name), _LONGEST_TEXT) + "\n")
    return {"name": name, "last_line": f"SystemExit: {status}", "line": None, "status": status & 0xFF}


def _text(wrong: BaseException) -> str:
    """The exception alone, without its frames; a huge text is cut in its middle."""
    try:
        text = "".join(traceback.format_exception_only(type(wrong), wrong)).rstrip("\n")
    except BaseException:  # noqa: BLE001 - its __str__ may do anything
        return f"{_safe(lambda: type(wrong).__name__, 'Exception')}: <exception str() failed>"
    return _clip(text, _LONGEST_TEXT)


def _trace(wrong: BaseException, text: str) -> str:
    parts: list[str] = []
    link: BaseException | None = wrong
    for depth in range(_MOST_CHAIN):
        if link is None:
            break
        said = text if depth == 0 else _text(link)
        parts.append(_frames(_get(BaseException, "__traceback__", link)) + said + "\n")
        cause = _get(BaseException, "__cause__", link)
        context = _get(BaseException, "__context__", link)
        if cause is not None:
            parts.append("\nThe above exception was the direct cause of the following exception:\n\n")
            link = cause
        elif context is not None and not _get(BaseException, "__suppress_context__", link):
            parts.append("\nDuring handling of the above exception, another exception occurred:\n\n")
            link = context
        else:
            break
    return "".join(reversed(parts))


def _frames(trace: TracebackType | None) -> str:
    """The frames that are not ours, equal ones folded by the library, too many cut in the middle."""
    steps: list[tuple[str, int, str]] = []
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith(_OURS):
            steps.append((code.co_filename, trace.tb_lineno, code.co_name))
        trace = trace.tb_next
    if not steps:
        return ""
    summary = [
        traceback.FrameSummary(file, number, name, line=linecache.getline(file, number), lookup_line=False)
        for file, number, name in steps
    ]
    shown = traceback.StackSummary.from_list(summary).format()
    if len(shown) > _MOST_FRAMES:
        half = _MOST_FRAMES // 2
        shown = [*shown[:half], f"  ... {len(shown) - _MOST_FRAMES} ...\n", *shown[-half:]]
    return "Traceback (most recent call last):\n" + "".join(shown)


def _safe_line(wrong: BaseException, filename: str) -> int | None:
    """The innermost line of the learner's own file that the traceback passes."""
    if issubclass(type(wrong), SyntaxError) and _get(SyntaxError, "filename", wrong) == filename:
        number = _get(SyntaxError, "lineno", wrong)
        return number if type(number) is int else None
    line = None
    trace = _get(BaseException, "__traceback__", wrong)
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _of_network(wrong: BaseException) -> bool:
    """Whether the exception, or one that led to it, is what a missing network looks like."""
    link: BaseException | None = wrong
    for _ in range(_MOST_CHAIN):
        if link is None:
            return False
        if type(link).__name__ == "gaierror" and type(link).__module__ == "socket":
            return True
        if isinstance(link, OSError) and link.errno in _NETWORK_ERRORS:
            return True
        if isinstance(link, ConnectionRefusedError):
            return True
        reason = getattr(link, "reason", None)
        link = link.__cause__ or (reason if isinstance(reason, BaseException) else link.__context__)
    return False


def _last_line(text: str) -> str:
    """The last line; of CUDA's long advice the line that says what happened."""
    lines = [line for line in text.splitlines() if line.strip()]
    said = [line for line in lines if "CUDA error:" in line or "CUDA driver error:" in line]
    return said[0] if said else lines[-1] if lines else ""


def _clip(text: str, most: int) -> str:
    text = text.encode("utf-8", "backslashreplace").decode()
    if len(text) <= most:
        return text
    return f"{text[: most // 2]} ... {text[-most // 2 :]}"


def _safe(make, instead: str) -> str:  # type: ignore[no-untyped-def]  # noqa: ANN001 - a thunk
    try:
        made = make()
    except BaseException:  # noqa: BLE001 - hostile exceptions are expected here
        return instead
    return made if type(made) is str else instead


def _show(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - the learner may have closed or replaced it
        rest = text.encode("utf-8", "backslashreplace")
        try:
            os.write(2, rest)
        except OSError:
            return
