"""The few calls to the kernel that Python does not offer, each raising OSError where the kernel refuses.

Law: numbers are the kernel's own (sched.h, mount.h, prctl.h, capability.h under linux/); standard library only.
"""

import ctypes
import fcntl
import os
import socket
import struct

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, BIND, REC, PRIVATE = 1, 2, 4, 8, 0x20, 0x1000, 0x4000, 0x40000
DUMPABLE, DROP_BOUNDING, NO_NEW_PRIVILEGES, AMBIENT = 4, 24, 38, 47
_AMBIENT_CLEAR_ALL = 4
_SECCOMP, _FILTER = 22, 2
_CAPABILITY_VERSION_3 = 0x20080522
_MOST_CAPABILITIES = 64
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1
_IFREQ = struct.Struct("16sH22x")
_WRITE, _READ, _ANONYMOUS, _FIXED, _MAP_PRIVATE = 2, 1, 0x20, 0x10, 0x02

_libc = ctypes.CDLL(None, use_errno=True)
_python = ctypes.PyDLL(None, use_errno=True)
_libc.mount.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p]
_libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


class _Program(ctypes.Structure):
    """`struct sock_fprog`: how many instructions, and where they are."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def unshare(flags: int) -> None:
    """Leave the namespaces that `flags` name for new ones."""
    _done(_libc.unshare(flags), f"unshare {flags:#x}")


def fork() -> int:
    """Fork without what Python does in a child, which costs some hundred pages.

    For a process of one thread whose child runs our code alone: locks, hooks and chance stay as they are.
    """
    pid = int(_python.fork())
    if pid < 0:
        _done(pid, "fork")
    return pid


def enter(descriptor: int, kind: int) -> None:
    """Enter the namespace of that descriptor."""
    _done(_libc.setns(descriptor, kind), "setns")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Let a file system or a folder be seen at `target`."""
    done = _libc.mount(source.encode(), target.encode(), kind.encode() or None, flags, options.encode() or None)
    _done(done, f"mount {target}")


def bind(source: str, target: str, *, read_only: bool = False) -> None:
    """Show `source` at `target` too."""
    mount(source, target, flags=BIND)
    if read_only:
        mount(source, target, flags=BIND | REMOUNT | RDONLY | NOSUID | NODEV)


def control(option: int, value: int = 0) -> None:
    """Set what prctl(2) sets."""
    _done(_libc.prctl(option, value, 0, 0, 0), f"prctl {option}")


def raise_loopback() -> None:
    """Bring up the loopback interface of this network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        name, flags = _IFREQ.unpack(fcntl.ioctl(any_socket, _GET_FLAGS, _IFREQ.pack(b"lo", 0)))
        fcntl.ioctl(any_socket, _SET_FLAGS, _IFREQ.pack(name, flags | _UP))


def drop_bounding_set() -> None:
    """Give up every capability that could be gained later."""
    _libc.prctl(AMBIENT, _AMBIENT_CLEAR_ALL, 0, 0, 0)
    for capability in range(_MOST_CAPABILITIES):
        if _libc.prctl(DROP_BOUNDING, capability, 0, 0, 0) != 0:
            return


def drop_capabilities() -> None:
    """Give up every capability that is held."""
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    _done(_libc.capset(header, bytes(24)), "capset")


def load_filter(content: bytes) -> None:
    """Let the kernel filter the system calls of this process and of all that come of it."""
    kept = ctypes.create_string_buffer(content, len(content))
    program = _Program(len(content) // 8, ctypes.addressof(kept))
    _done(_libc.prctl(_SECCOMP, _FILTER, ctypes.byref(program), 0, 0), "seccomp")


def own_copy(start: int, size: int) -> None:
    """Put a private copy of what is mapped there in its place."""
    content = ctypes.string_at(start, size)
    flags = _ANONYMOUS | _FIXED | _MAP_PRIVATE
    if _libc.mmap(start, size, _READ | _WRITE, flags, -1, 0) != start:
        _done(-1, "mmap")
    ctypes.memmove(start, content, size)


def advise(start: int, size: int, advice: int) -> bool:
    """Advise the kernel on memory; False where it does not take the advice."""
    return int(_libc.madvise(start, size, advice)) == 0


def _done(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
