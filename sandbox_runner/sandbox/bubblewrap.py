"""Confines a job with bubblewrap: every namespace, a real unprivileged uid, a seccomp filter, groups, one capped tmpfs.

Law: started by root, everything is bound first and privileges are dropped after (`setpriv` as the first program
inside); started by anyone else, user namespaces serve and one uid serves all slots. The policy is data beside this
module. Sizes in bytes, times in seconds.
"""

import asyncio
import base64
import json
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sandbox_runner.errors import SetupError
from sandbox_runner.protocol import Device
from sandbox_runner.sandbox.cgroup import Cgroups, Group, NoCgroupError, find_cgroups
from sandbox_runner.sandbox.interpreter import Interpreter, ask_interpreter, compile_harness, make_font_cache
from sandbox_runner.sandbox.jailed import CHANNEL, INFO, REPORT, Jailed, Lines
from sandbox_runner.sandbox.policy import Policy, load_policy
from sandbox_runner.sandbox.port import Staged
from sandbox_runner.sandbox.probing import PROVEN_INSIDE, PROVEN_OUTSIDE, Setting
from sandbox_runner.sandbox.seccomp import compile_filter

BASE_UID = 64100
_SECCOMP = 6
_INSIDE_UID = 1000
_HARNESS = Path(__file__).resolve().parent.parent / "harness"
_LAUNCH = Path(__file__).resolve().with_name("launch.py")
_TOTAL_FILES_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class BubblewrapSettings:
    """What an operator decides.

    `cores` caps one job's CPU (0: not at all); `cgroups` False leaves memory to the watchdog.
    """

    learners_python: str
    base_uid: int = BASE_UID
    cores: float = 0.0
    cgroups: bool = True
    folder: str = ""


class Bubblewrap:
    """The sandbox on this host. Make it with `open_bubblewrap`, give it back with `close`."""

    def __init__(
        self,
        settings: BubblewrapSettings,
        policy: Policy,
        interpreter: Interpreter,
        folder: Path,
        fonts: tuple[Path, ...],
    ) -> None:
        self._settings = settings
        self._policy = policy
        self.interpreter = interpreter
        self.folder = folder
        self._fonts = fonts
        self._filter = compile_filter(policy.seccomp)
        self._root = os.geteuid() == 0
        self._count = 0
        self.no_cgroup = "" if settings.cgroups else "switched off by the settings"
        self._cgroups: Cgroups | None = None
        if settings.cgroups:
            try:
                self._cgroups = find_cgroups()
            except NoCgroupError as reason:
                self.no_cgroup = str(reason)

    @property
    def walls(self) -> tuple[str, ...]:
        """The walls that are put up here; whether they hold is for the probe to say."""
        optional = (("uid_per_slot",) if self._root else ()) + (("cgroup",) if self._cgroups else ())
        return PROVEN_INSIDE + PROVEN_OUTSIDE + optional

    @property
    def setting(self) -> Setting:
        """What a probe of this sandbox must know."""
        return Setting(tuple(self._policy.environment), self.no_cgroup, (str(_HARNESS), str(self.folder)))

    async def start(self, job: Staged) -> Jailed:
        """Start the keeper and the harness inside the walls.

        Raises:
            SetupError: bubblewrap or the launcher is not there.
        """
        self._count += 1
        name = f"tasree-{os.getpid()}-{self._count}"
        group = self._group(name, job)
        mountpoint = self.folder / f"slot-{job.slot}"
        mountpoint.mkdir(mode=0o755, exist_ok=True)
        lines = Lines({_SECCOMP: _sealed(self._filter)})
        try:
            order = self._order(job, mountpoint, group, lines.inner)
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-I", "-S", str(_LAUNCH),
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
                pass_fds=tuple(lines.inner.values()), env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}, cwd="/",
            )  # fmt: skip
        except BaseException as failed:
            lines.close_outer()
            if group is not None:
                group.remove()
            if isinstance(failed, OSError):
                message = f"{sys.executable}: {failed.strerror}"
                raise SetupError(message) from failed
            raise
        finally:
            lines.close_inner()
        jailed = Jailed(process, lines, group, job)
        await jailed.begin(json.dumps(order).encode("ascii"))
        return jailed

    async def close(self) -> None:
        """Remove the folder that the sandbox keeps on the host."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _group(self, name: str, job: Staged) -> Group | None:
        if self._cgroups is None:
            return None
        limits, spare = job.limits, self._policy.spare_processes
        try:
            return self._cgroups.create(
                name, memory_bytes=limits.memory_bytes, processes=limits.processes + spare, cores=self._settings.cores
            )
        except NoCgroupError as refused:
            message = f"the job's control group could not be made: {refused}"
            raise SetupError(message) from refused

    def _order(
        self, job: Staged, mountpoint: Path, group: Group | None, inherited: dict[int, int]
    ) -> dict[str, object]:
        """What `launch.py` is told."""
        owner = self._settings.base_uid + job.slot if self._root else 0
        shown = (owner, owner) if self._root else (_INSIDE_UID, _INSIDE_UID)
        files: list[dict[str, object]] = [
            {"path": f"code/{job.filename}", "base64": base64.b64encode(job.code).decode("ascii")}
        ]
        for name, text in self._policy.etc.items():
            content = text.format(uid=shown[0], gid=shown[1]).encode("ascii")
            files.append({"path": f"etc/{name}", "base64": base64.b64encode(content).decode("ascii")})
        files += [{"path": f"tmp/.matplotlib/{font.name}", "copy": str(font), "theirs": True} for font in self._fonts]
        limits = job.limits
        rlimits = dict(self._policy.rlimits)
        rlimits["NPROC"] = limits.processes + self._policy.spare_processes
        rlimits["FSIZE"] = limits.disk_bytes
        rlimits["CPU"] = max(1, int(limits.cpu_s) + 1)
        return {
            "join": list(group.joins) if group else [],
            "descriptors": {str(number): have for number, have in inherited.items()},
            "user_namespace": not self._root,
            "mountpoint": str(mountpoint),
            "owner": owner,
            "disk_bytes": limits.disk_bytes,
            "inodes": limits.inodes,
            "files": files,
            "rlimits": rlimits,
            "argv": self._argv(job, mountpoint, owner),
        }

    def _argv(self, job: Staged, mountpoint: Path, owner: int) -> list[str]:
        inside = self.interpreter.inside
        caps = {
            "files": job.limits.files,
            "file_bytes": job.limits.file_bytes,
            "total_bytes": _TOTAL_FILES_BYTES,
        }
        settings = {
            "channel": CHANNEL,
            "report": REPORT,
            "folder": "/box",
            "caps": caps,
            "argv": [
                inside,
                "-I",
                "-B",
                "-X",
                "utf8",
                "/harness/tasree_harness/play.py",
                f"/code/{job.filename}",
                str(CHANNEL),
            ],
        }
        command = [inside, "-I", "-S", "-B", "/harness/tasree_harness/keeper.py", json.dumps(settings)]
        if self._root:
            drop = ["--clear-groups", "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"]
            command = ["setpriv", "--reuid", str(owner), "--regid", str(owner), *drop, *command]
            identity = ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]
        else:
            identity = ["--unshare-user", "--uid", str(_INSIDE_UID), "--gid", str(_INSIDE_UID)]
        return ["bwrap", *identity, *self._walls_argv(job.device), *self._tree_argv(job.device, mountpoint), *command]

    def _walls_argv(self, device: Device) -> list[str]:
        argv = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
        argv += ["--hostname", "sandbox", "--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"]
        argv += ["--seccomp", str(_SECCOMP), "--info-fd", str(INFO)]
        environment = dict(self._policy.environment)
        if device is not Device.CPU:
            environment |= self._policy.environment_cuda
        for name, value in environment.items():
            argv += ["--setenv", name, value]
        return argv

    def _tree_argv(self, device: Device, mountpoint: Path) -> list[str]:
        """The file tree inside: read-only but for /box, /tmp and /dev/shm, which share one capped tmpfs."""
        argv: list[str] = []
        for path in self._policy.binds:
            argv += ["--ro-bind", path, path]
        for path, target in self._policy.links.items():
            if Path("/", target).exists():
                argv += ["--symlink", target, path]
        for host, path in self.interpreter.binds:
            argv += ["--ro-bind", host, path]
        argv += ["--proc", "/proc", "--dev", "/dev", "--dir", "/etc"]
        for name in self._policy.etc:
            argv += ["--ro-bind", f"{mountpoint}/etc/{name}", f"/etc/{name}"]
        for path in self._policy.binds_where_present:
            argv += ["--ro-bind-try", path, path]
        if device is not Device.CPU:
            for node in self._policy.device_nodes_cuda:
                argv += ["--dev-bind-try", node, node]
            argv += ["--ro-bind", "/sys", "/sys"]
        for name, path in (("tmp", "/tmp"), ("shm", "/dev/shm"), ("work", "/box")):  # noqa: S108 - paths inside
            argv += ["--bind", f"{mountpoint}/{name}", path]
        argv += ["--ro-bind", f"{mountpoint}/code", "/code", "--ro-bind", str(self.folder / "harness"), "/harness"]
        return [*argv, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/box"]


async def open_bubblewrap(settings: BubblewrapSettings) -> Bubblewrap:
    """Look at the host and make the sandbox ready.

    Raises:
        SetupError: bubblewrap or the learners' interpreter is not there.
    """
    for program in ("bwrap", "setpriv"):
        if shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin") is None:
            message = f"{program} is not installed (Debian: bubblewrap and util-linux)"
            raise SetupError(message)
    folder = _own_folder(settings.folder)
    interpreter = await ask_interpreter(settings.learners_python)
    await compile_harness(settings.learners_python, _HARNESS, folder / "harness" / "tasree_harness")
    fonts = await make_font_cache(settings.learners_python, _font_folder(interpreter, folder))
    return Bubblewrap(settings, load_policy(), interpreter, folder, fonts)


def _sweep(parent: Path) -> None:
    """Remove the folders of runners of ours that were killed."""
    for folder in parent.glob("tasree-runner-*-*"):
        pid = folder.name.split("-")[2]
        if pid.isdigit() and not Path("/proc", pid).exists() and folder.lstat().st_uid == os.geteuid():
            shutil.rmtree(folder, ignore_errors=True)


def _sealed(content: bytes) -> int:
    descriptor = os.memfd_create("seccomp")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _font_folder(interpreter: Interpreter, otherwise: Path) -> Path:
    """A folder of our own that lasts, one a matplotlib: listing the host's fonts takes a second."""
    cache = Path("/var/cache") if os.geteuid() == 0 else Path.home() / ".cache"
    folder = cache / "tasree" / f"matplotlib-{interpreter.matplotlib}"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if folder.stat().st_uid == os.geteuid() and os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    return otherwise / "fonts"


def _own_folder(wanted: str) -> Path:
    _sweep(Path(tempfile.gettempdir()))
    folder = Path(wanted or tempfile.mkdtemp(prefix=f"tasree-runner-{os.getpid()}-"))
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    return folder
