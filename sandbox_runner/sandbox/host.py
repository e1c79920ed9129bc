"""What every way to confine needs of this host: the learners' interpreter, groups, a folder, and the start of a job.

Law: the order that `launch.py` carries out is made here, once for all; how the walls are put up is each way's own.
Sizes in bytes, times in seconds.
"""

import asyncio
import base64
import itertools
import json
import math
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sandbox_runner.errors import SetupError
from sandbox_runner.sandbox.cgroup import Cgroups, Group, NoCgroupError, find_cgroups
from sandbox_runner.sandbox.interpreter import Interpreter, ask_interpreter, compile_harness, make_font_cache
from sandbox_runner.sandbox.jailed import Jailed
from sandbox_runner.sandbox.lines import CHANNEL, Lines
from sandbox_runner.sandbox.policy import Policy, load_policy
from sandbox_runner.sandbox.port import Staged
from sandbox_runner.sandbox.probing import Setting
from sandbox_runner.sandbox.reaping import Reaper
from sandbox_runner.spawning import started

BASE_UID = 64100
PROGRAMS_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_INSIDE_UID = 1000
_serials = itertools.count(1)
_MOST_SLOTS = 1024
_HARNESS = Path(__file__).resolve().parent.parent / "harness"
_LAUNCH = Path(__file__).resolve().with_name("launch.py")
_TOTAL_FILES_BYTES = 16 << 20
_POOLS = 3
_BEHIND_S = 1.0
"""So far may our count of a job's CPU time be behind; on many cores a process computes many times that meanwhile."""


@dataclass(frozen=True, slots=True)
class SandboxSettings:
    """What an operator decides.

    `cores` caps one job's CPU (0: not at all); `cgroups` False leaves memory to the watchdog.
    """

    learners_python: str
    base_uid: int = BASE_UID
    cores: float = 0.0
    cgroups: bool = True
    folder: str = ""


class Host:
    """The host as a sandbox needs it. Make it with `open_host`, give it back with `close`."""

    def __init__(
        self, settings: SandboxSettings, interpreter: Interpreter, folder: Path, fonts: tuple[Path, ...]
    ) -> None:
        self.policy: Policy = load_policy()
        self.interpreter = interpreter
        self.folder = folder
        self.root = os.geteuid() == 0
        self._settings = settings
        self._fonts = fonts
        self.names = f"tasree-{os.getpid()}-{next(_serials)}"
        """What the names of its jobs' groups begin with; a process may have several hosts, whose jobs run beside."""
        self._count = 0
        self.reaper = Reaper()
        self.reaper.adopt()
        self.no_cgroup = "" if settings.cgroups else "switched off by the settings"
        self.cgroups: Cgroups | None = None
        if settings.cgroups:
            try:
                self.cgroups = find_cgroups()
            except NoCgroupError as reason:
                self.no_cgroup = str(reason)

    @property
    def spare_processes(self) -> int:
        """How many processes and threads a job has beyond its limit: our own, and those that libraries make unasked.

        OpenMP, numpy's OpenBLAS and torch each keep an idle thread a core of a measured job; on many cores alone these
        would reach the limit, and some wait for ever for one that could not be made.
        """
        return self.policy.spare_processes + _POOLS * max(len(os.sched_getaffinity(0)) - 2, 0)

    def setting(self, *, own_kernel: bool) -> Setting:
        """What a probe must know."""
        hidden = (str(_HARNESS), str(self.folder))
        bound = tuple(inside for _, inside in self.interpreter.binds)
        spare = 0 if own_kernel else self.spare_processes - self.policy.spare_processes
        return Setting(tuple(self.policy.environment), self.no_cgroup, hidden, own_kernel, bound, spare=spare)

    def next_name(self) -> str:
        """A name for a job's groups that no other job of this machine has."""
        self._count += 1
        return f"{self.names}-{self._count}"

    def owner(self, job: Staged) -> int:
        """The kernel uid that a job's files belong to: its slot's, or (in a user namespace) our own, known as 0."""
        return self.uid_of(job.slot) if self.root else 0

    def uid_of(self, slot: int) -> int:
        """Give the kernel uid of a slot; for who is root."""
        return self._settings.base_uid + slot

    def may_be_jobs(self, pid: int) -> bool:
        """Whether a process may be a job's, or come of one; of what cannot be told it may."""
        try:
            if not self.root:
                return os.readlink(f"/proc/{pid}/ns/pid") != os.readlink("/proc/self/ns/pid")
            with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as status:
                words = status.read().partition("\nUid:")[2].split(None, 4)[:4]
        except OSError:
            return True
        first = self._settings.base_uid
        return not words or any(first <= int(uid) < first + _MOST_SLOTS for uid in words)

    def shown_uid(self, job: Staged) -> int:
        """The uid that the learner's code sees."""
        return self.owner(job) if self.root else _INSIDE_UID

    def mountpoint(self, job: Staged) -> Path:
        """Where the job's tmpfs is mounted, in its own mount namespace only."""
        path = self.folder / f"slot-{job.slot}"
        path.mkdir(mode=0o755, exist_ok=True)
        return path

    def group(self, name: str, *, memory_bytes: int, processes: int) -> Group | None:
        """Make a job's control group, where there are any.

        Raises:
            SetupError: there are, and the kernel refused.
        """
        group = self.open_group(name)
        if group is not None:
            self.limit_group(group, memory_bytes=memory_bytes, processes=processes)
        return group

    def open_group(self, name: str) -> Group | None:
        """Make a control group that has no limits yet, where there are any; raises as `group`."""
        if self.cgroups is None:
            return None
        try:
            return self.cgroups.open(name)
        except NoCgroupError as refused:
            raise _no_group(refused) from refused

    def limit_group(self, group: Group, *, memory_bytes: int, processes: int) -> None:
        """Set a job's limits; raises as `group`, the group being removed then."""
        try:
            group.limit(memory_bytes=memory_bytes, processes=processes, cores=self._settings.cores)
        except NoCgroupError as refused:
            raise _no_group(refused) from refused

    def rlimits(self, job: Staged, *, counted: bool = True) -> dict[str, int]:
        """The hard limits of each process of a job.

        The kernel's own limit of CPU time kills, and names no limit: where the time is `counted` from outside it lies
        beyond what may be used before that count ends the job, and serves only where nobody counts.
        """
        limits = dict(self.policy.rlimits)
        more = int(self.cgroups is not None)  # a group refuses first, and counts what it refuses
        limits["NPROC"] = job.limits.processes + self.spare_processes + more
        limits["FSIZE"] = job.limits.disk_bytes
        limits["CPU"] = max(1, int(job.limits.cpu_s) + 1)
        if counted:
            limits["CPU"] += math.ceil(_BEHIND_S * len(os.sched_getaffinity(0)))
        return limits

    def keeper(self, job: Staged, channel: int | str, report: int | str, uid: int = 0) -> list[str]:
        """The command that is pid 1 inside.

        `channel` and `report` are descriptors, or sockets to connect to; `uid` is what the keeper makes of the
        learner's process, 0 when it has the learner's uid itself.
        """
        inside = self.interpreter.inside
        play = ["/harness/tasree_harness/play.py", f"/code/{job.filename}", str(CHANNEL)]
        caps = {"files": job.limits.files, "file_bytes": job.limits.file_bytes, "total_bytes": _TOTAL_FILES_BYTES}
        settings = {
            "channel": channel,
            "report": report,
            "folder": "/box",
            "uid": uid,
            "caps": caps,
            "argv": [inside, "-I", "-B", "-X", "utf8", *play],
        }
        return [inside, "-I", "-S", "-B", "/harness/tasree_harness/keeper.py", json.dumps(settings)]

    def order(self, job: Staged, group: Group | None, more_files: dict[str, bytes] | None = None) -> dict[str, object]:
        """What `launch.py` is told, but for `argv`, `descriptors` and `rlimits`."""
        shown = self.shown_uid(job)
        contents = {f"code/{job.filename}": job.code, **(more_files or {})}
        contents |= {
            f"etc/{name}": text.format(uid=shown, gid=shown).encode("ascii") for name, text in self.policy.etc.items()
        }
        files: list[dict[str, object]] = [
            {"path": path, "base64": base64.b64encode(content).decode("ascii")} for path, content in contents.items()
        ]
        files += [{"path": f"tmp/.matplotlib/{font.name}", "copy": str(font), "theirs": True} for font in self._fonts]
        return {
            "join": list(group.joins) if group else [],
            "user_namespace": not self.root,
            "mountpoint": str(self.mountpoint(job)),
            "owner": self.owner(job),
            "disk_bytes": job.limits.disk_bytes,
            "inodes": job.limits.inodes,
            "files": files,
        }

    async def launch(self, job: Staged, order: dict[str, object], lines: Lines, group: Group | None) -> Jailed:
        """Start `launch.py` with its order, and listen; interrupted, nothing is left.

        Raises:
            SetupError: the launcher does not start.
        """
        process = await self.spawn(lines, group)
        jailed = Jailed(process, lines, group, job, self.reaper)
        await jailed.begin(json.dumps(order).encode("ascii"))
        return jailed

    async def spawn(self, lines: Lines, group: Group | None) -> asyncio.subprocess.Process:
        """Start `launch.py`, which waits for its order on stdin; what was handed on is closed here.

        Raises:
            SetupError: it does not start.
        """
        try:
            return await started(
                lambda: asyncio.create_subprocess_exec(
                    sys.executable, "-I", "-S", str(_LAUNCH),
                    stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
                    pass_fds=tuple(lines.inner.values()), env={"PATH": PROGRAMS_PATH}, cwd="/",
                )
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

    async def close(self) -> None:
        """Remove the folder that is kept on the host."""
        self.reaper.reap()
        shutil.rmtree(self.folder, ignore_errors=True)


def _no_group(refused: NoCgroupError) -> SetupError:
    return SetupError(f"the job's control group could not be made: {refused}")


async def open_host(settings: SandboxSettings, *programs: str) -> Host:
    """Look at the host and make ready what its jobs share.

    Raises:
        SetupError: one of `programs`, or the learners' interpreter, is not there.
    """
    for program in programs:
        if shutil.which(program, path=PROGRAMS_PATH) is None:
            message = f"{program} is not installed (Debian: bubblewrap, util-linux, runsc)"
            raise SetupError(message)
    folder = _own_folder(settings.folder)
    interpreter = await ask_interpreter(settings.learners_python)
    await compile_harness(settings.learners_python, _HARNESS, folder / "harness" / "tasree_harness")
    fonts = await make_font_cache(settings.learners_python, _font_folder(interpreter, folder))
    return Host(settings, interpreter, folder, fonts)


def _own_folder(wanted: str) -> Path:
    _sweep(Path(tempfile.gettempdir()))
    folder = Path(wanted or tempfile.mkdtemp(prefix=f"tasree-runner-{os.getpid()}-"))
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    return folder


def _sweep(parent: Path) -> None:
    """Remove the folders of runners of ours that were killed."""
    for folder in parent.glob("tasree-runner-*-*"):
        pid = folder.name.split("-")[2]
        if pid.isdigit() and not Path("/proc", pid).exists() and folder.lstat().st_uid == os.geteuid():
            shutil.rmtree(folder, ignore_errors=True)


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
