"""Confines a job with bubblewrap: every namespace, a real unprivileged uid, a seccomp filter, groups, one capped tmpfs.

Law: started by root, everything is bound first and privileges are dropped after (`setpriv` as the first program
inside); started by anyone else, user namespaces serve and one uid serves all slots. The policy is data beside this
module.
"""

import base64
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sandbox_runner.protocol import Device
from sandbox_runner.sandbox.host import Host, SandboxSettings, open_host
from sandbox_runner.sandbox.jailed import Jailed
from sandbox_runner.sandbox.lines import CHANNEL, INFO, REPORT, Pairs
from sandbox_runner.sandbox.port import Staged
from sandbox_runner.sandbox.probing import PROVEN_INSIDE, PROVEN_OUTSIDE, Setting
from sandbox_runner.sandbox.seccomp import compile_filter, refused_calls

_SECCOMP = 6
_AUTOMOUNT = "/proc/sys/fs/binfmt_misc"
"""Below a folder that is bound: to open it would have the host's systemd mount what belongs there. It is covered."""
_VISIBLE = "CUDA_VISIBLE_DEVICES"
NODES = "/tmp/.nodes"  # noqa: S108 - inside, as `harness/warm/walls.py` names it
_PARENTS = ("CAP_SYS_ADMIN", "CAP_NET_ADMIN", "CAP_CHOWN", "CAP_SETPCAP")
_COMPILES = (b"compile", b"transformers", b"_dynamo", b"_inductor")
"""Code without one of them that compiles all the same compiles as if nothing had been kept: only slower."""
_PARENTS_AS_ROOT = ("CAP_SETUID", "CAP_SETGID")


class Bubblewrap:
    """The sandbox on this host. Make it with `open_bubblewrap`, give it back with `close`."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._filter = compile_filter(host.policy.seccomp, counted=host.cgroups is not None)

    @property
    def walls(self) -> tuple[str, ...]:
        """The walls that are put up here; whether they hold is for the probe to say."""
        optional = (("uid_per_slot",) if self.host.root else ()) + (("cgroup",) if self.host.cgroups else ())
        return PROVEN_INSIDE + PROVEN_OUTSIDE + optional

    @property
    def setting(self) -> Setting:
        """What a probe of this sandbox must know."""
        policy = self.host.policy
        calls = refused_calls(policy.seccomp, counted=self.host.cgroups is not None)
        allowed = policy.seccomp.inet_protocols_allowed
        return replace(self.host.setting(own_kernel=False), calls=calls, limits=policy.rlimits, protocols=allowed)

    def setting_with(self, numbers: Sequence[int], shown: str) -> Setting:
        """What a probe must know where a job is lent one GPU of these numbers."""
        policy = self.host.policy
        nodes = (*(f"nvidia{number}" for number in numbers), *(Path(node).name for node in policy.device_nodes_cuda))
        variables = (*policy.environment_cuda, _VISIBLE)
        return replace(self.setting, gpu=shown, no_gpu="", nodes=nodes, variables_cuda=variables)

    async def start(self, job: Staged) -> Jailed:
        """Start the keeper and the harness inside the walls.

        Raises:
            SetupError: a control group cannot be made, or the launcher does not start.
        """
        host, limits = self.host, job.limits
        processes = limits.processes + host.spare_processes
        group = host.group(host.next_name(), memory_bytes=limits.memory_bytes, processes=processes)
        lines = Pairs({_SECCOMP: _sealed(self._filter)})
        order = host.order(job, group) | {
            "descriptors": {str(number): have for number, have in lines.inner.items()},
            "rlimits": host.rlimits(job),
            "argv": self._argv(job),
        }
        return await host.launch(job, order, lines, group)

    async def close(self) -> None:
        """Remove what is kept on the host."""
        await self.host.close()

    def order_parent(
        self, job: Staged, command: list[str], binds: dict[str, str], written: dict[str, str]
    ) -> dict[str, object]:
        """Give the order for a warm parent: the walls of a job, in which its children may put up walls of their own.

        Its capabilities count in a user namespace without privileges outside. Started by root, that has the uids of
        every slot below the job's own, as they are outside. `binds` are host folders to folders inside, read-only;
        `written` the same for a parent that makes something of ours and bears no learner's job. The filter is not
        loaded: each child loads it, and the parent runs nothing of a learner's. The nodes of the job's GPUs are put
        where no library looks: only a child has them in their place.
        """
        host = self.host
        capabilities = _PARENTS + (_PARENTS_AS_ROOT if host.root else ())
        identity = (
            []
            if host.root
            else ["--unshare-user", "--uid", str(host.shown_uid(job)), "--gid", str(host.shown_uid(job))]
        )
        identity += ["--cap-drop", "ALL", *(word for name in capabilities for word in ("--cap-add", name))]
        shown = [word for here, path in binds.items() for word in ("--ro-bind", here, path)]
        shown += [word for here, path in written.items() for word in ("--bind", here, path)]
        shown += self._hidden_nodes(job)
        walls = self._walls_argv(job, filtered=False)
        argv = ["bwrap", *identity, *walls, *self._tree_argv(job, host.mountpoint(job), shown, nodes=False), *command]
        order = host.order(job, None) | {"rlimits": {"CORE": host.policy.rlimits["CORE"]}, "argv": argv}
        if host.root:
            first, own = host.owner(replace(job, slot=0)), host.owner(job)
            order["range"] = f"0 {own} 1\n{first} {first} {own - first}\n"
        return order

    def _hidden_nodes(self, job: Staged) -> list[str]:
        words = ["--dir", NODES] if job.gpus else []
        for name in self._nodes(job):
            words += ["--dev-bind", f"/dev/{name}", f"{NODES}/{name}", "--dev-bind", "/dev/null", f"/dev/{name}"]
        return words

    def _nodes(self, job: Staged) -> list[str]:
        """Name the nodes of this host that a job's GPUs need."""
        if not job.gpus:
            return []
        names = [f"nvidia{number}" for number in job.gpus]
        names += [node.removeprefix("/dev/") for node in self.host.policy.device_nodes_cuda]
        return [name for name in names if Path("/dev", name).exists()]

    def order_child(self, job: Staged, *, waits: bool = False) -> dict[str, object]:
        """Give what a warm child is told before it sees the code; one that `waits` is sent its job later."""
        host, uid = self.host, self.host.shown_uid(job)
        return {
            "uid": uid,
            "own_user": not host.root,
            "disk_bytes": job.limits.disk_bytes,
            "inodes": job.limits.inodes,
            "filename": job.filename,
            "etc": {name: text.format(uid=uid, gid=uid) for name, text in host.policy.etc.items()},
            "rlimits": host.rlimits(job),
            "filter": base64.b64encode(self._filter).decode("ascii"),
            "keeper": json.loads(host.keeper(job, CHANNEL, REPORT)[-1]),
            "compiles": waits or any(word in job.code for word in _COMPILES),
            "nodes": self._nodes(job),
            "waits": waits,
        }

    def order_job(self, job: Staged) -> dict[str, object]:
        """Give what a warm child that waited is told of the job that takes it, beside the code."""
        keeper = json.loads(self.host.keeper(job, CHANNEL, REPORT)[-1])
        return {"filename": job.filename, "rlimits": self.host.rlimits(job), "caps": keeper["caps"]}

    def _argv(self, job: Staged) -> list[str]:
        host = self.host
        command = host.keeper(job, CHANNEL, REPORT)
        uid = str(host.shown_uid(job))
        if host.root:
            drop = ["--clear-groups", "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"]
            command = ["setpriv", "--reuid", uid, "--regid", uid, *drop, *command]
            identity = ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]
        else:
            identity = ["--unshare-user", "--uid", uid, "--gid", uid]
        tree = self._tree_argv(job, host.mountpoint(job))
        return ["bwrap", *identity, *self._walls_argv(job), *tree, *_covers(), *command]

    def _walls_argv(self, job: Staged, *, filtered: bool = True) -> list[str]:
        argv = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
        argv += ["--hostname", "sandbox", "--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"]
        argv += [*(["--seccomp", str(_SECCOMP)] if filtered else []), "--info-fd", str(INFO)]
        environment = dict(self.host.policy.environment)
        if job.device is not Device.CPU:
            environment |= self.host.policy.environment_cuda
        if job.gpus:  # where GPUs have no known names only their nodes say which, and they count from 0
            environment[_VISIBLE] = ",".join(job.gpu_names or map(str, range(len(job.gpus))))
        for name, value in environment.items():
            argv += ["--setenv", name, value]
        return argv

    def _tree_argv(self, job: Staged, mountpoint: Path, shown: Sequence[str] = (), *, nodes: bool = True) -> list[str]:
        """The file tree inside: read-only but for /box, /tmp and /dev/shm, which share one capped tmpfs."""
        policy = self.host.policy
        argv: list[str] = []
        for path in policy.binds:
            argv += ["--ro-bind", path, path]
        for path, target in policy.links.items():
            if Path("/", target).exists():
                argv += ["--symlink", target, path]
        for here, path in self.host.interpreter.binds:
            for parent in reversed(Path(path).parents[:-1]):  # bubblewrap would shut them to all but root
                argv += ["--perms", "0755", "--dir", str(parent)]
            argv += ["--ro-bind", here, path]
        argv += ["--proc", "/proc", "--dev", "/dev", "--dir", "/etc"]
        for name in policy.etc:
            argv += ["--ro-bind", f"{mountpoint}/etc/{name}", f"/etc/{name}"]
        for path in policy.binds_where_present:
            argv += ["--ro-bind-try", path, path]
        if job.device is not Device.CPU:
            lent = (*(f"/dev/nvidia{number}" for number in job.gpus), *policy.device_nodes_cuda)
            for node in lent if nodes else ():
                argv += ["--dev-bind-try", node, node]
            argv += ["--ro-bind", "/sys", "/sys"]
        for name, path in (("tmp", "/tmp"), ("shm", "/dev/shm"), ("work", "/box")):  # noqa: S108 - paths inside
            argv += ["--bind", f"{mountpoint}/{name}", path]
        harness = str(self.host.folder / "harness")
        argv += ["--ro-bind", f"{mountpoint}/code", "/code", "--ro-bind", harness, "/harness"]
        return [*argv, *shown, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/box"]


async def open_bubblewrap(settings: SandboxSettings) -> Bubblewrap:
    """Look at the host and make the sandbox ready.

    Raises:
        SetupError: bubblewrap or the learners' interpreter is not there.
    """
    return Bubblewrap(await open_host(settings, "bwrap", "setpriv"))


def _sealed(content: bytes) -> int:
    descriptor = os.memfd_create("seccomp")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _covers() -> list[str]:
    """Make read-only what a namespace of ours has its own of below /proc/sys.

    Not for a parent: where part of its /proc is covered, an ordinary user's kernel lets no child mount one of its own,
    which covers that itself.
    """
    argv = ["--ro-bind-try", "/proc/sys", "/proc/sys"]
    if Path(_AUTOMOUNT).exists():
        argv += ["--tmpfs", _AUTOMOUNT, "--remount-ro", _AUTOMOUNT]
    return argv
