"""The policy of the walls, read from `policy.json` beside this module: binds, environment, limits, system calls.

Law: what is allowed inside is data; code only carries it out. `clone_flags_refused` are the CLONE_NEW* bits,
`ioctls_refused` are TIOCSTI and TIOCLINUX, socket families are unix, inet, inet6 and netlink (of which only protocol 0,
for getifaddrs). `refuse_on_init` are calls that the kernel lets one process of a uid make on another: refused on the
keeper. `device_nodes_cuda` are what every GPU job needs beside the node of the GPU lent to it.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from sandbox_runner.codec import decode


@dataclass(frozen=True, slots=True)
class Seccomp:
    """System calls refused with EPERM, those answered as absent (ENOSYS), and arguments refused."""

    refuse: tuple[str, ...]
    absent: tuple[str, ...]
    refuse_on_init: tuple[str, ...]
    clone_flags_refused: tuple[int, ...]
    socket_families_allowed: tuple[int, ...]
    netlink_protocols_allowed: tuple[int, ...]
    ioctls_refused: tuple[int, ...]


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
