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
from sandbox_runner.sandbox.policy import Seccomp, Words

_HIGHEST_FAMILY = 64
_INIT = 1
_ARGUMENTS = 6
_WORD = 0xFFFFFFFF


@cache
def compile_filter(policy: Seccomp, *, counted: bool = True) -> bytes:
    """Compile to BPF; `counted` says that a control group counts what the kernel keeps for a job.

    Foreign architectures (32-bit, x32) are killed, which is the library's default.

    Raises:
        SetupError: a call of the policy is unknown to the library.
    """
    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    refuse = pyseccomp.ERRNO(errno.EPERM)
    for name in (*policy.refuse, *(() if counted else policy.refuse_uncounted)):
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
    _protocols(rules, socket.AF_NETLINK, policy.netlink_protocols_allowed)
    for family in (socket.AF_INET, socket.AF_INET6):
        _protocols(rules, family, policy.inet_protocols_allowed)
    for words in policy.words_refused:
        _refuse_words(rules, refuse, words)
    with tempfile.TemporaryFile() as out:
        rules.export_bpf(out)
        out.seek(0)
        return out.read()


def refused_calls(policy: Seccomp, *, counted: bool = True) -> dict[str, tuple[int, ...]]:
    """Give a way to make each call that the filter refuses: its number here and its arguments, all that matter not 0.

    Made without the filter, none of them does any harm to who makes it by a probe, but may end it.
    """
    told: dict[str, tuple[tuple[int, int], ...]] = {}
    told |= dict.fromkeys((*policy.refuse, *policy.absent, *(() if counted else policy.refuse_uncounted)), ())
    told |= {f"{name} on the init": ((0, _INIT),) for name in policy.refuse_on_init}
    for words in policy.words_refused:
        unequal = tuple((place, word + 1) for place, word in words.unequal)
        told[f"{words.call} of {[word for _, word in words.equal]}"] = (*words.equal, *unequal)
    arch, calls = pyseccomp.system_arch(), {}
    for name, arguments in told.items():
        number = pyseccomp.resolve_syscall(arch, name.partition(" ")[0])
        if number >= 0:  # else this machine has no such call
            given = dict(arguments)
            calls[name] = (number, *(given.get(place, 0) for place in range(_ARGUMENTS)))
    return calls


def _protocols(rules: pyseccomp.SyscallFilter, family: int, allowed: tuple[int, ...]) -> None:
    """Refuse every protocol of a family but those allowed: the host's events, and modules of its kernel, lie behind."""
    refuse, of_family = pyseccomp.ERRNO(errno.EPROTONOSUPPORT), pyseccomp.Arg(0, pyseccomp.EQ, family)
    highest = max(allowed)
    for protocol in range(highest):
        if protocol not in allowed:
            rules.add_rule(refuse, "socket", of_family, pyseccomp.Arg(2, pyseccomp.MASKED_EQ, _WORD, protocol))
    rules.add_rule(refuse, "socket", of_family, pyseccomp.Arg(2, pyseccomp.GT, highest))


def _refuse_words(rules: pyseccomp.SyscallFilter, refuse: int, words: Words) -> None:
    """Refuse a call told these words; of a word of 64 bits the kernel reads the lower half where it is a number."""
    told = [pyseccomp.Arg(int(place), pyseccomp.MASKED_EQ, _WORD, word) for place, word in words.equal]
    told += [pyseccomp.Arg(int(place), pyseccomp.NE, word) for place, word in words.unequal]
    rules.add_rule(refuse, words.call, *told)


def _rule(rules: pyseccomp.SyscallFilter, action: int, name: str) -> None:
    try:
        rules.add_rule(action, name)
    except (ValueError, OSError) as unknown:
        message = f"policy.json: the system call {name!r} is unknown to libseccomp: {unknown}"
        raise SetupError(message) from unknown
