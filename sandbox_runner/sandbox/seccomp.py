"""A seccomp filter made from the policy, once, outside the sandbox, as the BPF bytes that bubblewrap loads.

Law: libseccomp never runs inside; a name that this kernel or library does not know is left out only when the library
says that it does not exist here, since a call that cannot be named cannot be made under another name either.
"""

import errno
import os
import socket
import tempfile
from functools import cache

import pyseccomp

from sandbox_runner.errors import SetupError
from sandbox_runner.sandbox.policy import Seccomp

_HIGHEST_FAMILY = 64
_HIGHEST_PROTOCOL = 31
_INIT = 1
_WORD = 0xFFFFFFFF


@cache
def compile_filter(policy: Seccomp) -> bytes:
    """Compile to BPF. Foreign architectures (32-bit, x32) are killed, which is the library's default.

    Raises:
        SetupError: a call of the policy is unknown to the library.
    """
    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    refuse = pyseccomp.ERRNO(errno.EPERM)
    for name in policy.refuse:
        _rule(rules, refuse, name)
    for name in policy.absent:
        _rule(rules, pyseccomp.ERRNO(errno.ENOSYS), name)
    for name in policy.refuse_on_init:
        rules.add_rule(refuse, name, pyseccomp.Arg(0, pyseccomp.MASKED_EQ, _WORD, _INIT))
    # whole groups and users of processes, the keeper among them; then the keeper itself
    rules.add_rule(refuse, "setpriority", pyseccomp.Arg(0, pyseccomp.NE, os.PRIO_PROCESS))
    rules.add_rule(refuse, "setpriority", pyseccomp.Arg(1, pyseccomp.MASKED_EQ, _WORD, _INIT))
    for flag in policy.clone_flags_refused:
        rules.add_rule(refuse, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, flag, flag))
    unsupported = pyseccomp.ERRNO(errno.EAFNOSUPPORT)
    for call in ("socket", "socketpair"):
        for family in range(_HIGHEST_FAMILY + 1):
            if family not in policy.socket_families_allowed:
                rules.add_rule(unsupported, call, pyseccomp.Arg(0, pyseccomp.EQ, family))
        rules.add_rule(unsupported, call, pyseccomp.Arg(0, pyseccomp.GT, _HIGHEST_FAMILY))
    _netlink(rules, policy.netlink_protocols_allowed)
    for request in policy.ioctls_refused:
        rules.add_rule(refuse, "ioctl", pyseccomp.Arg(1, pyseccomp.MASKED_EQ, _WORD, request))
    with tempfile.TemporaryFile() as out:
        rules.export_bpf(out)
        out.seek(0)
        return out.read()


def _netlink(rules: pyseccomp.SyscallFilter, allowed: tuple[int, ...]) -> None:
    """Refuse every protocol of netlink but those allowed: events of the host's devices come over one of them."""
    refuse, family = pyseccomp.ERRNO(errno.EPROTONOSUPPORT), pyseccomp.Arg(0, pyseccomp.EQ, socket.AF_NETLINK)
    for protocol in range(_HIGHEST_PROTOCOL + 1):
        if protocol not in allowed:
            rules.add_rule(refuse, "socket", family, pyseccomp.Arg(2, pyseccomp.EQ, protocol))
    rules.add_rule(refuse, "socket", family, pyseccomp.Arg(2, pyseccomp.GT, _HIGHEST_PROTOCOL))


def _rule(rules: pyseccomp.SyscallFilter, action: int, name: str) -> None:
    try:
        rules.add_rule(action, name)
    except (ValueError, OSError) as unknown:
        message = f"policy.json: the system call {name!r} is unknown to libseccomp: {unknown}"
        raise SetupError(message) from unknown
