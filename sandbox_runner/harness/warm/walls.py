"""The walls of one child, put up by itself from the order that its runner sends, before any of the learner's code.

Law: in the end it holds no capability, its own uid, its own namespaces, one capped tmpfs, its limits and the filter,
and has looked that this is so; a wall that cannot be given ends the child. The learner's code passes through here as a
descriptor whose bytes are never read.
"""

import base64
import contextlib
import json
import os
import resource
import socket
from dataclasses import dataclass

from . import kernel

ORDER_BYTES = 1 << 17
COMPILED, BUILDING = "/compiled", "/building"
NODES = "/tmp/.nodes"  # noqa: S108 - inside: where a parent for GPUs has their nodes, out of every library's sight
_OPEN_TO_ALL = 0o1777
_ROOM = "/tmp"  # noqa: S108 - the one tmpfs of the job is mounted there first, then its part for /tmp over it
_MOST_CODE = 4 << 20
_COVERED = ("sys", "sysrq-trigger", "irq", "bus")
"""What bubblewrap, too, makes read-only of /proc."""


class RefusedError(Exception):
    """A wall does not stand; the text says which, for an operator."""


@dataclass(frozen=True)
class Order:
    """What the runner wants of a child. Sizes in bytes.

    `uid` is what the learner's code sees; with `own_user` it is had by a user namespace of the child's own, where all
    slots share one uid of the host. `compiles`: what torch's compiler keeps may help it. `nodes` are the devices
    lent to it. With `waits` it is made before there is a job: its process rehearses, and the code comes when all walls
    stand.
    """

    uid: int
    own_user: bool
    disk_bytes: int
    inodes: int
    filename: str
    etc: dict  # type: ignore[type-arg]
    rlimits: dict  # type: ignore[type-arg]
    filter: str
    keeper: dict  # type: ignore[type-arg]
    compiles: bool
    nodes: list  # type: ignore[type-arg]
    waits: bool


def enter_namespaces() -> None:
    """Leave every namespace of the parent's but the user's, and see only the own processes."""
    kernel.unshare(kernel.NEWNS | kernel.NEWIPC | kernel.NEWUTS | kernel.NEWNET)
    kernel.mount("none", "/", flags=kernel.REC | kernel.PRIVATE)
    kernel.mount("proc", "/proc", "proc", kernel.NOSUID | kernel.NODEV | kernel.NOEXEC)
    for name in _COVERED:
        if os.path.exists(f"/proc/{name}"):
            kernel.bind(f"/proc/{name}", f"/proc/{name}", read_only=True)
    kernel.mount("devpts", "/dev/pts", "devpts", kernel.NOSUID | kernel.NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    kernel.raise_loopback()


def receive(line: socket.socket) -> tuple[dict, int]:  # type: ignore[type-arg]
    """Wait for what is sent with one descriptor: an order, or a job for a child that waits."""
    content, descriptors, _, _ = socket.recv_fds(line, ORDER_BYTES, 1)
    if not content or len(descriptors) != 1:
        message = "the order did not come"
        raise RefusedError(message)
    return json.loads(content), descriptors[0]


def put_up(order: Order, code: int, fonts: dict, links: int) -> int:  # type: ignore[type-arg]
    """Put up every wall that the order tells of; `links` is how many files of ours will be linked into /tmp.

    Gives, for a child that waits, the descriptor of the one folder in which its code can still be put: it is ours to
    close, no name leads there, and where the learner's process finds that folder nothing can be written. Else -1.
    """
    with contextlib.suppress(OSError):  # where the kernel has none
        kernel.unshare(kernel.NEWCGROUP)
    folder = _furnish(order, code, fonts, links)
    kernel.control(kernel.NO_NEW_PRIVILEGES, 1)
    _become(order)
    os.chdir("/box")
    _limit(order.rlimits)
    kernel.drop_capabilities()
    kernel.load_filter(base64.b64decode(order.filter))
    _look(order)
    return folder


def put_code(folder: int, name: str, code: int) -> None:
    """Put the code of the job that a child waited for into the folder that `put_up` gave, and close both."""
    _copy(code, os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=folder))
    os.fchmod(folder, 0o555)
    os.close(folder)


def limit(wanted: dict, spent_s: int) -> None:  # type: ignore[type-arg]
    """Lower the limits of a process that waited to those of its job; `spent_s` is CPU time that was not the job's."""
    limits = dict(wanted)
    if "CPU" in limits:
        limits["CPU"] += spent_s
    _limit(limits)


def _furnish(order: Order, code: int, fonts: dict, links: int) -> int:  # type: ignore[type-arg]
    """Mount the tmpfs, put the job's files into it, and show its parts where the learner's code finds them."""
    for name in order.nodes:
        kernel.bind(f"{NODES}/{name}", f"/dev/{name}")
    inodes = order.inodes + len(order.etc) + len(fonts) + links + 16
    options = f"size={order.disk_bytes},nr_inodes={inodes},mode=755"
    kernel.mount("tmpfs", _ROOM, "tmpfs", kernel.NOSUID | kernel.NODEV, options)
    for name, mode in (("code", 0o755), ("etc", 0o755), ("work", 0o700), ("tmp", _OPEN_TO_ALL), ("shm", _OPEN_TO_ALL)):
        os.mkdir(f"{_ROOM}/{name}")
        os.chmod(f"{_ROOM}/{name}", mode)
    open_code = -1
    if order.waits:
        os.close(code)
        os.chown(f"{_ROOM}/code", order.uid, order.uid)
        open_code = os.open(f"{_ROOM}/code", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    else:
        _copy(code, os.open(f"{_ROOM}/code/{order.filename}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
    for name, text in order.etc.items():
        _write(f"{_ROOM}/etc/{name}", text.encode("ascii"))
    os.chown(f"{_ROOM}/work", order.uid, order.uid)
    if fonts:
        folder = os.path.join(_ROOM, "tmp", ".matplotlib")
        os.mkdir(folder)
        for name, content in fonts.items():
            _write(f"{folder}/{name}", content)
            os.chown(f"{folder}/{name}", order.uid, order.uid)
        os.chown(folder, order.uid, order.uid)
    for name in order.etc:
        kernel.bind(f"{_ROOM}/etc/{name}", f"/etc/{name}", read_only=True)
    kernel.bind(f"{_ROOM}/code", "/code", read_only=True)
    for name, path in (("work", "/box"), ("shm", "/dev/shm"), ("tmp", _ROOM)):  # noqa: S108 - inside
        kernel.bind(f"{_ROOM}/{name}", path)
    return open_code


def _become(order: Order) -> None:
    """Take the uid of the slot, or a user namespace of its own; what could be gained again is given up."""
    if order.own_user:
        mine = (os.getuid(), os.getgid())
        kernel.unshare(kernel.NEWUSER)
        kernel.control(kernel.DUMPABLE, 1)  # the maps are ours to write only so
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{order.uid} {mine[0]} 1"),
            ("gid_map", f"{order.uid} {mine[1]} 1"),
        ):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as table:
                table.write(text)
        kernel.control(kernel.DUMPABLE, 0)
        kernel.drop_bounding_set()
        return
    kernel.drop_bounding_set()
    os.setgroups([])
    os.setresgid(order.uid, order.uid, order.uid)
    os.setresuid(order.uid, order.uid, order.uid)
    kernel.control(kernel.DUMPABLE, 0)


def _limit(wanted: dict) -> None:  # type: ignore[type-arg]
    for name, value in wanted.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        _, hard = resource.getrlimit(kind)
        least = value if hard == resource.RLIM_INFINITY else min(value, hard)
        if resource.getrlimit(kind) != (least, least):  # the filter of one that waited lets some be set no more
            resource.setrlimit(kind, (least, least))


def _look(order: Order) -> None:
    """Look that the walls stand, as the kernel says it.

    Raises:
        RefusedError: naming the first that does not.
    """
    with open("/proc/self/status", encoding="ascii", errors="replace") as status:
        said = {name: value.split() for name, _, value in (line.partition(":") for line in status)}
    held = [name for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb") if int(said[name][0], 16)]
    found = {
        "capabilities": not held,
        "no_new_privileges": said["NoNewPrivs"] == ["1"],
        "seccomp": said["Seccomp"] == ["2"],
        "uid": os.getresuid() == os.getresgid() == (order.uid,) * 3 and 0 not in os.getgroups(),
        "processes": os.getpid() == 1 and sorted(name for name in os.listdir("/proc") if name.isdigit()) == ["1"],
    }
    if missing := [name for name, stands in found.items() if not stands]:
        message = f"{missing[0]} does not stand in a warm child"
        raise RefusedError(message)


def _copy(source: int, target: int) -> None:
    """Let the kernel copy what a descriptor holds, and close both; not a byte of it is seen here."""
    while os.sendfile(target, source, None, _MOST_CODE):
        pass
    os.fchmod(target, 0o644)
    os.close(target)
    os.close(source)


def _write(path: str, content: bytes) -> None:
    with open(path, "wb") as out:
        out.write(content)
    os.chmod(path, 0o644)
