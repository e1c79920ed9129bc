"""Run as a program before bubblewrap: joins the job's groups, mounts its one capped tmpfs, sets limits, then execs.

Law: standard library only and nothing of ours, started with `-I -S`; the mount lives in a mount namespace that ends
with the job, so that nothing is ever deleted file by file as root. The order comes as JSON on stdin.
"""

import base64
import contextlib
import ctypes
import fcntl
import json
import os
import resource
import shutil
import sys

_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_PR_SET_DUMPABLE = 4
_MS_NOSUID, _MS_NODEV, _MS_REC, _MS_PRIVATE = 2, 4, 0x4000, 0x40000
_ABOVE_FIXED = 64
_OPEN_TO_ALL = 0o1777
_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Carry out the order on stdin; does not return. A fault is one line on stderr and exit status 70."""
    order = json.loads(sys.stdin.buffer.read())
    _share_blame()
    try:
        for path in order["join"]:
            with open(path, "w", encoding="ascii") as group:
                group.write(str(os.getpid()))
        _place_descriptors(order["descriptors"])
        _unshare(user_namespace=order["user_namespace"])
        _furnish(order)
        for name, wanted in order["rlimits"].items():
            _limit(getattr(resource, f"RLIMIT_{name}"), wanted)
        program = shutil.which(order["argv"][0]) or order["argv"][0]
        if order.get("range"):  # this interpreter may be out of reach from then on
            _own_range(order["owner"], order["range"])
        os.execv(program, order["argv"])  # noqa: S606 - the argv is ours, no shell is wanted
    except OSError as fault:
        sys.stderr.write(f"launch: {fault}\n")
        sys.stderr.flush()
        os._exit(70)


def _limit(kind: int, wanted: int) -> None:
    """Set a hard limit; where the runner has a lower one and may not raise it, that one holds."""
    _, hard = resource.getrlimit(kind)
    try:
        resource.setrlimit(kind, (wanted, wanted))
    except ValueError:
        resource.setrlimit(kind, (min(wanted, hard), min(wanted, hard)))


def _share_blame() -> None:
    """Make this the least by which a job can be spared when the host runs out of memory.

    The kernel lets a process go down to what was last set with the right to go lower; what the runner was started by
    may have left -1000 there, and a job could have others of the host killed in its place.
    """
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "r+", encoding="ascii") as score:
        least = max(int(score.read()), 0)
        score.seek(0)
        score.write(str(least))


def _unshare(*, user_namespace: bool) -> None:
    uid, gid = os.getuid(), os.getgid()
    _call(_libc.unshare, _CLONE_NEWNS | (_CLONE_NEWUSER if user_namespace else 0), what="unshare")
    if user_namespace:
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as table:
                table.write(text)
    _call(_libc.mount, b"none", b"/", None, _MS_REC | _MS_PRIVATE, None, what="mount private")


def _own_range(uid: int, lines: str) -> None:
    """As root, become `uid` for the kernel and root in a user namespace that has the uids of `lines` besides.

    The maps are written from outside by a process that stays root for it; from inside only one uid could be had.
    """
    asked, ask = os.pipe()
    told, tell = os.pipe()
    this, helper = os.getpid(), os.fork()
    if helper == 0:
        try:
            if os.read(asked, 1):
                for name in ("uid_map", "gid_map"):
                    with open(f"/proc/{this}/{name}", "w", encoding="ascii") as table:
                        table.write(lines)
                os.write(tell, b"m")
        finally:
            os._exit(0)
    os.close(tell)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    _call(_libc.prctl, _PR_SET_DUMPABLE, 1, 0, 0, 0, what="dumpable")
    _call(_libc.unshare, _CLONE_NEWUSER, what="unshare user")
    os.write(ask, b"u")
    mapped = os.read(told, 1)
    os.waitpid(helper, 0)
    if not mapped:
        raise PermissionError(1, "the maps of the user namespace could not be written", "uid_map")
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)


def _furnish(order: dict) -> None:  # type: ignore[type-arg]
    """Mount the tmpfs and put the job's files into it. Its own few files are not counted against the job."""
    root, owner = order["mountpoint"], order["owner"]
    options = f"size={order['disk_bytes']},nr_inodes={order['inodes'] + len(order['files']) + 16},mode=755"
    _call(_libc.mount, b"tmpfs", root.encode(), b"tmpfs", _MS_NOSUID | _MS_NODEV, options.encode(), what="mount tmpfs")
    for name, mode in (("code", 0o755), ("etc", 0o755), ("work", 0o700)):
        os.mkdir(f"{root}/{name}", mode)
        os.chmod(f"{root}/{name}", mode)
    for name in ("tmp", "shm"):
        os.mkdir(f"{root}/{name}")
        os.chmod(f"{root}/{name}", _OPEN_TO_ALL)
    os.chown(f"{root}/work", owner, owner)
    for entry in order["files"]:
        path = f"{root}/{entry['path']}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if "copy" in entry:
            shutil.copyfile(entry["copy"], path)
        else:
            with open(path, "wb") as out:
                out.write(base64.b64decode(entry["base64"]))
        os.chmod(path, 0o644)
        if entry.get("theirs"):
            os.chown(path, owner, owner)
            with contextlib.suppress(OSError):
                os.chown(os.path.dirname(path), owner, owner)


def _place_descriptors(wanted: dict) -> None:  # type: ignore[type-arg]
    """Move each inherited descriptor to its fixed number and give /dev/null as stdin."""
    aside = {int(number): fcntl.fcntl(have, fcntl.F_DUPFD_CLOEXEC, _ABOVE_FIXED) for number, have in wanted.items()}
    for have in wanted.values():
        os.close(have)
    for number, descriptor in aside.items():
        os.dup2(descriptor, number)
        os.close(descriptor)
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)


def _call(function, *args, what: str) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN002
    if function(*args) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


if __name__ == "__main__":
    main()
