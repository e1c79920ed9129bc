"""The policy of the walls, read from `policy.json` beside this module: binds, environment, limits, system calls.

Law: what is allowed inside is data; code only carries it out. `clone_flags_refused` are the CLONE_NEW* bits, socket
families are unix, inet and inet6 (TCP and UDP: any other protocol may load a module into the host's kernel) and netlink
(of which only protocol 0, for getifaddrs). `absent` are clone3, whose flags a filter cannot see, and io_setup, which
takes from a count of the whole host. `words_refused` are what a call must not be told: TIOCSTI and TIOCLINUX; leases
and watches on folders shared with the host (F_SETLEASE, F_NOTIFY); dropping the host's cache of shared files
(POSIX_FADV_DONTNEED); keeping others off a core's second thread (PR_SCHED_CORE); filters of one's own (SO_ATTACH_*,
PR_SET_SECCOMP), which use up the room that the whole host's filters share; and another limit of core files, for only 1
keeps the kernel from starting the host's own program at every crash: 0 does not (core(5)). `refuse_on_init` are calls
that the kernel lets one process of a uid make on another: refused on the keeper. `device_nodes_cuda` are what every
GPU job needs beside the node of the GPU lent to it.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from sandbox_runner.codec import decode


@dataclass(frozen=True, slots=True)
class Words:
    """A call refused where each argument, by its place, is `equal` to a number, or `unequal` to it."""

    call: str
    equal: tuple[tuple[int, int], ...]
    unequal: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Seccomp:
    """System calls refused with EPERM, those answered as absent (ENOSYS), and arguments refused.

    `refuse_uncounted` are refused where no control group counts memory that belongs to no process.
    """

    refuse: tuple[str, ...]
    refuse_uncounted: tuple[str, ...]
    absent: tuple[str, ...]
    refuse_on_init: tuple[str, ...]
    clone_flags_refused: tuple[int, ...]
    socket_families_allowed: tuple[int, ...]
    netlink_protocols_allowed: tuple[int, ...]
    inet_protocols_allowed: tuple[int, ...]
    words_refused: tuple[Words, ...]


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that is the same for every job. `etc` may name `{uid}` and `{gid}`."""

    binds: tuple[str, ...]
    binds_where_present: tuple[str, ...]
    links: dict[str, str]
    etc: dict[str, str]
    environment: dict[str, str]
    environment_cuda: dict[str, str]
    device_nodes_cuda: tuple[str, ...]
    rlimits: dict[str, int]
    spare_processes: int
    seccomp: Seccomp


def load_policy(path: Path | None = None) -> Policy:
    """Read the policy strictly.

    Raises:
        WireError: naming the place that does not fit.
    """
    source = path or Path(__file__).with_name("policy.json")
    return decode(Policy, json.loads(source.read_text(encoding="utf-8")), source.name)
