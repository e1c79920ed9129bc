"""Confines a CPU job with gVisor's `runsc`: a kernel in user space between the learner's code and the host's.

Law: root only, and only where control groups can be had, for what runs on the host is gVisor and not the learner's
processes: memory and the end of everything are held by the group. Files live on the same capped tmpfs as under
bubblewrap. Differences from bubblewrap are listed in `DIFFERENCES`.
"""

import json
import shutil
from functools import partial
from pathlib import Path

from sandbox_runner.errors import SetupError
from sandbox_runner.protocol import Device
from sandbox_runner.sandbox.host import Host, SandboxSettings, open_host
from sandbox_runner.sandbox.jailed import Jailed
from sandbox_runner.sandbox.lines import Doors
from sandbox_runner.sandbox.port import Staged
from sandbox_runner.sandbox.probing import PROVEN_INSIDE, PROVEN_OUTSIDE, Setting

DIFFERENCES = (
    "no GPU: CPU jobs only",
    "calls that bubblewrap's filter refuses reach gVisor's own kernel, never the host's",
    "start-up and system calls are slower, so timings are not comparable with those under bubblewrap",
    "gVisor itself takes some memory beside the learner's code",
)
_OWN_MEMORY = 128 << 20
_OWN_THREADS = 1024
_OWN_THREADS_EACH = 32
_KEEPERS = ["CAP_SETUID", "CAP_SETGID", "CAP_KILL", "CAP_DAC_OVERRIDE"]
"""gVisor does not spare pid 1 from its namespace's signals: the keeper is root of gVisor's kernel (of no other), the
learner's process is not, and has none of these."""


class Gvisor:
    """The sandbox on this host. Make it with `open_gvisor`, give it back with `close`."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._state = host.folder / "runsc"
        self._state.mkdir(mode=0o700, exist_ok=True)

    @property
    def walls(self) -> tuple[str, ...]:
        """The walls that are put up here; whether they hold is for the probe to say."""
        return (*PROVEN_INSIDE, *PROVEN_OUTSIDE, "uid_per_slot", "cgroup")

    @property
    def setting(self) -> Setting:
        """What a probe of this sandbox must know."""
        return self.host.setting(own_kernel=True)

    async def start(self, job: Staged) -> Jailed:
        """Start the keeper and the harness inside gVisor.

        Raises:
            SetupError: the job needs a GPU, a control group cannot be made, or the launcher does not start.
        """
        if job.device is not Device.CPU:
            message = "runsc runs CPU jobs only"
            raise SetupError(message)
        host, limits, name = self.host, job.limits, self.host.next_name()
        memory, threads = limits.memory_bytes + _OWN_MEMORY, _OWN_THREADS_EACH * limits.processes + _OWN_THREADS
        group = host.group(name, memory_bytes=memory, processes=threads)
        lines = Doors(host.folder / name, partial(self._tidy, name))
        mountpoint = host.mountpoint(job)
        files = {"bundle/config.json": json.dumps(self._config(job, mountpoint, lines.folder)).encode("ascii")}
        files["bundle/rootfs/.keep"] = b""
        files |= _copied()
        flags = ["--root", str(self._state), "--log", "/dev/null", "--platform=ptrace", "--network=none"]
        flags += ["--ignore-cgroups", "--host-uds=open"]
        order = host.order(job, group, files) | {
            "descriptors": {},
            "rlimits": {"CORE": host.policy.rlimits["CORE"]},
            "argv": ["runsc", *flags, "run", "--bundle", f"{mountpoint}/bundle", name],
        }
        return await host.launch(job, order, lines, group)

    async def close(self) -> None:
        """Remove what is kept on the host."""
        await self.host.close()

    def _tidy(self, name: str) -> None:
        """Remove what runsc, when killed, leaves of its own record of a container."""
        for path in self._state.glob(f"{name}_sandbox:*"):
            path.unlink(missing_ok=True)

    def _config(self, job: Staged, mountpoint: Path, doors: Path) -> dict[str, object]:
        """The container as the OCI runtime specification describes one."""
        policy, uid = self.host.policy, self.host.shown_uid(job)
        rlimits = self.host.rlimits(job, counted=False) | {"NPROC": job.limits.processes}  # the keeper has another uid
        return {
            "ociVersion": "1.0.0",
            "process": {
                "user": {"uid": 0, "gid": 0},
                "args": self.host.keeper(job, "/line/channel", "/line/report", uid),
                "env": [f"{name}={value}" for name, value in policy.environment.items()],
                "cwd": "/box",
                "capabilities": {
                    "bounding": _KEEPERS,
                    "effective": _KEEPERS,
                    "permitted": _KEEPERS,
                    "inheritable": [],
                    "ambient": [],
                },
                "noNewPrivileges": True,
                "rlimits": [
                    {"type": f"RLIMIT_{name}", "hard": value, "soft": value} for name, value in rlimits.items()
                ],
            },
            "root": {"path": "rootfs", "readonly": True},
            "hostname": "sandbox",
            "mounts": self._mounts(mountpoint, doors),
            "linux": {"namespaces": [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount")]},
        }

    def _mounts(self, mountpoint: Path, doors: Path) -> list[dict[str, object]]:
        shared = [(path, path) for path in self.host.policy.binds]
        shared += [
            (f"/{target}", path) for path, target in self.host.policy.links.items() if Path("/", target).exists()
        ]
        shared += list(self.host.interpreter.binds)
        shared += [(f"{mountpoint}/code", "/code"), (str(self.host.folder / "harness"), "/harness")]
        shared += [(f"{mountpoint}/etc", "/etc"), (str(doors), "/line")]
        own = [(f"{mountpoint}/tmp", "/tmp"), (f"{mountpoint}/work", "/box"), (f"{mountpoint}/shm", "/dev/shm")]  # noqa: S108
        mounts: list[dict[str, object]] = [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"},
        ]
        for pairs, mode in ((shared, "ro"), (own, "rw")):
            mounts += [
                {"destination": inside, "type": "bind", "source": here, "options": [mode, "rbind", "nosuid", "nodev"]}
                for here, inside in pairs
            ]
        return mounts


def _copied() -> dict[str, bytes]:
    """What a library needs of /etc beside the policy's own."""
    path = Path("/etc/ld.so.cache")
    return {str(path).removeprefix("/"): path.read_bytes()} if path.exists() else {}


async def open_gvisor(settings: SandboxSettings) -> Gvisor:
    """Look at the host and make the sandbox ready.

    Raises:
        SetupError: runsc or the learners' interpreter is not there, or this is no host for it.
    """
    host = await open_host(settings, "runsc")
    if not host.root or host.cgroups is None:
        shutil.rmtree(host.folder, ignore_errors=True)
        why = host.no_cgroup or "it is started by root only"
        message = f"runsc needs root and a control group: {why}"
        raise SetupError(message)
    return Gvisor(host)
