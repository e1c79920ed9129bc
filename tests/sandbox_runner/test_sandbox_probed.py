"""The probe's attempts against walls of which one was taken down: each is found, by its name."""

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sandbox_runner.sandbox import probing
from sandbox_runner.sandbox.bubblewrap import Bubblewrap
from sandbox_runner.sandbox.policy import Seccomp
from sandbox_runner.sandbox.seccomp import compile_filter, refused_calls
from sandbox_runner.worker import SandboxWorker

if TYPE_CHECKING:
    from conftest import Walls

pytestmark = pytest.mark.sandbox


async def _said(walls: "Walls", policy: Seccomp, **limits: int) -> dict[str, str]:
    """Give what the attempts say of the filter and of limits, behind a filter of this policy."""
    assert isinstance(walls.sandbox, Bubblewrap)
    sandbox = Bubblewrap(walls.sandbox.host)
    setting, sandbox._filter = sandbox.setting, compile_filter(policy)
    facts: dict[str, object] = {"own_kernel": False, "protocols": list(setting.protocols)}
    facts |= {"calls": setting.calls, "limits": {**setting.limits, **limits}}
    changed = replace(walls, sandbox=sandbox, worker=SandboxWorker(sandbox, walls.worker.machine, grace_s=1.0))
    result = await changed.run(probing._program(facts))
    found = json.loads(result.stdout.head)
    return {name: str(found[name]) for name in ("seccomp", "rlimits")}


async def test_walls_that_stand_are_found_to_stand(walls: "Walls") -> None:
    assert await _said(walls, walls.sandbox.host.policy.seccomp) == {"seccomp": "", "rlimits": ""}


@pytest.mark.parametrize("name", ["unshare", "add_key", "pidfd_getfd", "inotify_init1", "sync", "io_setup"])
async def test_a_call_that_is_refused_no_more_is_found_by_its_name(walls: "Walls", name: str) -> None:
    policy = walls.sandbox.host.policy.seccomp
    refuse, absent = ([one for one in calls if one != name] for calls in (policy.refuse, policy.absent))
    said = await _said(walls, replace(policy, refuse=tuple(refuse), absent=tuple(absent)))
    assert said["seccomp"].startswith(f"{name} was not refused")


@pytest.mark.parametrize("call", ["ioctl", "fcntl", "prctl", "setsockopt", "prlimit64"])
async def test_words_that_are_refused_no_more_are_found_by_their_call(walls: "Walls", call: str) -> None:
    policy = walls.sandbox.host.policy.seccomp
    left = tuple(words for words in policy.words_refused if words.call != call)
    assert (await _said(walls, replace(policy, words_refused=left)))["seccomp"].startswith(f"{call} of")


async def test_a_protocol_that_is_open_and_a_limit_that_is_too_high_are_found(walls: "Walls") -> None:
    policy = replace(walls.sandbox.host.policy.seccomp, inet_protocols_allowed=tuple(range(300)))
    said = await _said(walls, policy, NOFILE=8)
    assert "a socket of protocol" in said["seccomp"]
    assert said["rlimits"].startswith("RLIMIT_NOFILE is ")


def test_every_call_of_the_policy_is_tried(walls: "Walls") -> None:
    policy = walls.sandbox.host.policy.seccomp
    tried = {name.partition(" ")[0] for name in refused_calls(policy, counted=False)}
    words = {words.call for words in policy.words_refused}
    wanted = {*policy.refuse, *policy.absent, *policy.refuse_uncounted, *policy.refuse_on_init, *words}
    assert len(wanted - tried) < 5  # what this machine's architecture has not
