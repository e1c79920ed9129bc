"""How a GPU is lent, doubted, shut away and lent again, with a stand-in for what looks at it."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sandbox_runner.gpus import Gpu, Sight, Watch, _driver, find_gpus, open_watch
from sandbox_runner.lending import SLACK_BYTES, Lender

IDLE = Sight(used_bytes=600 << 20, busy=0.0)


@dataclass
class Looked:
    """A GPU that shows one sight after another, the last for ever."""

    sights: list[Sight]
    gpu: Gpu = field(default_factory=lambda: Gpu(0, "H"))
    said: tuple[str, ...] = ()

    def look(self, *, at_work: bool = True) -> Sight:
        return self.sights.pop(0) if len(self.sights) > 1 else self.sights[0]

    def faults(self) -> tuple[str, ...]:
        said, self.said = self.said, ()
        return said


@dataclass
class Lines:
    """A log that keeps the names of its lines."""

    events: list[str] = field(default_factory=list)

    def note(self, event: str, **values: str | float | bool | None) -> None:
        self.events.append(event)


async def _right() -> str:
    return ""


async def _wrong() -> str:
    return "a kernel gave a wrong result"


def _lender(*sights: Sight) -> tuple[Lender, Lines]:
    lines = Lines()
    return Lender(Looked([*sights]), lines, settle_s=0.1, hang_s=0.3), lines


async def test_a_clean_gpu_is_lent_again_without_a_word() -> None:
    lender, lines = _lender(IDLE)
    for _ in range(2):
        assert await lender.take(_wrong) == ""
        await lender.give_back("")
    assert lines.events == []


async def test_a_gpu_is_lent_to_one_at_a_time() -> None:
    lender, _ = _lender(IDLE)
    await lender.take(_right)
    second = asyncio.create_task(lender.take(_right))
    await asyncio.sleep(0.05)
    assert not second.done()
    await lender.give_back("")
    assert await second == ""
    await lender.give_back("")


async def test_a_process_that_still_holds_the_gpu_shuts_it_until_it_is_gone() -> None:
    held = Sight(IDLE.used_bytes, frozenset({77}))
    lender, lines = _lender(IDLE, held)
    assert await lender.take(_right) == ""
    await lender.give_back("")
    assert lender.quarantine == "held by process 77"
    assert await lender.take(_right) == "held by process 77"
    lender._watch.sights[:] = [IDLE]  # type: ignore[attr-defined]
    assert await lender.take(_right) == ""
    assert lines.events == ["gpu_quarantined", "gpu_proven", "gpu_lent_again"]


async def test_memory_that_does_not_come_back_shuts_the_gpu() -> None:
    assert IDLE.used_bytes is not None
    full = Sight(IDLE.used_bytes + SLACK_BYTES + (1 << 20))
    lender, _ = _lender(IDLE, full)
    assert await lender.take(_right) == ""
    await lender.give_back("")
    assert lender.quarantine == "65 MiB of its memory are still in use"


async def test_who_held_the_gpu_before_us_may_go_on() -> None:
    lender, _ = _lender(Sight(IDLE.used_bytes, frozenset({5})))
    assert await lender.take(_right) == ""
    await lender.give_back("")
    assert await lender.take(_right) == ""


async def test_after_doubt_a_kernel_must_be_right_before_the_gpu_is_lent() -> None:
    lender, lines = _lender(IDLE)
    await lender.take(_right)
    await lender.give_back("a run that ended as gpu_hang")
    why = await lender.take(_wrong)
    assert why == "after a run that ended as gpu_hang: a kernel gave a wrong result"
    assert await lender.take(_right) == ""
    assert lines.events == ["gpu_in_doubt", "gpu_quarantined", "gpu_proven", "gpu_lent_again"]


async def test_what_the_driver_says_of_a_fault_reaches_the_operators_log_once() -> None:
    lender, lines = _lender(IDLE)
    lender._watch.said = ("Xid (PCI:0000:00:06): 31, MMU Fault",)  # type: ignore[attr-defined]
    for doubt in ("a run that ended as gpu_fault", ""):
        await lender.take(_right)
        await lender.give_back(doubt)
    assert lines.events == ["gpu_in_doubt", "gpu_fault", "gpu_proven"]


async def test_a_proof_that_is_cancelled_leaves_the_gpu_to_be_had_and_in_doubt() -> None:
    lender, _ = _lender(IDLE)
    await lender.take(_right)
    await lender.give_back("doubt")

    async def never() -> str:
        await asyncio.sleep(99)
        return ""

    taking = asyncio.create_task(lender.take(never))
    await asyncio.sleep(0.05)
    taking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await taking
    assert await lender.take(_wrong) != ""


@pytest.mark.parametrize(
    ("sights", "hangs"),
    [
        ([Sight(busy=1.0)], True),
        ([Sight(busy=1.0), Sight(busy=0.0)], False),
        ([Sight(busy=0.1)], False),
        ([Sight(busy=None)], False),
    ],
)
async def test_what_works_on_while_its_program_stands_still_hangs(sights: list[Sight], hangs: bool) -> None:  # noqa: FBT001 - a case
    lender, _ = _lender(*sights)
    assert await lender.hangs() is hangs


def test_the_nodes_of_a_host_give_its_gpus_in_order(tmp_path: Path) -> None:
    for name in ("nvidia10", "nvidia2", "nvidia-uvm", "nvidia-caps", "nvidiax", "null"):
        (tmp_path / name).touch()
    assert find_gpus(tmp_path) == ()
    (tmp_path / "nvidiactl").touch()
    assert find_gpus(tmp_path) == (2, 10)


def test_who_has_a_node_open_is_found_by_its_descriptors(tmp_path: Path) -> None:
    for pid, target in ((11, "/dev/nvidia0"), (12, "/dev/nvidia01"), (13, "/dev/nvidiactl"), (14, "/dev/nvidia0")):
        (tmp_path / str(pid) / "fd").mkdir(parents=True)
        (tmp_path / str(pid) / "fd" / "7").symlink_to(target)
    (tmp_path / "self").mkdir()
    assert Watch(Gpu(0), tmp_path).look() == Sight(holders=frozenset({11, 14}))


def test_who_cannot_be_of_a_job_holds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for pid in (11, 14):
        (tmp_path / str(pid) / "fd").mkdir(parents=True)
        (tmp_path / str(pid) / "fd" / "7").symlink_to("/dev/nvidia0")
    watch = Watch(Gpu(0), tmp_path, counts=lambda pid: pid == 14)
    assert watch.look() == Sight(holders=frozenset({11, 14}))  # where nobody says what is used, each may use it
    monkeypatch.setattr(Watch, "_used", lambda _: 5)
    assert watch.look() == Sight(5, frozenset({14}), others=frozenset({11}))


def test_a_process_whose_first_thread_has_ended_is_seen_by_the_others(tmp_path: Path) -> None:
    (tmp_path / "11" / "fd").mkdir(parents=True)
    (tmp_path / "11" / "task" / "12" / "fd").mkdir(parents=True)
    (tmp_path / "11" / "task" / "12" / "fd" / "7").symlink_to("/dev/nvidia0")
    assert Watch(Gpu(0), tmp_path).look() == Sight(holders=frozenset({11}))


def test_the_drivers_faults_are_read_from_the_kernels_log_from_the_start_on(tmp_path: Path) -> None:
    log = tmp_path / "kmsg"
    log.write_text("6,1,2,-;NVRM: Xid (PCI:0000:00:06): 13, old\n")
    watch = Watch(Gpu(0), tmp_path, log)
    assert watch.faults() == ()
    watch.begin_listening()
    with log.open("a") as more:
        more.write("6,2,3,-;eth0: up\n3,3,4,-;NVRM: Xid (PCI:0000:00:06): 31, pid=7, MMU Fault\n")
    assert watch.faults() == ("Xid (PCI:0000:00:06): 31, pid=7, MMU Fault",)
    assert watch.faults() == ()


def test_the_drivers_version_is_read_from_the_kernels_line(tmp_path: Path) -> None:
    line = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (root@h)\n"
    (tmp_path / "version").write_text(line)
    assert _driver(tmp_path / "version") == "580.159.04"
    assert _driver(tmp_path / "absent") == ""


class _Library:
    """NVIDIA's library as far as it is asked, with one GPU whose node has number 3."""

    def __getattr__(self, name: str) -> object:
        def call(*given: object) -> int:
            match name:
                case "nvmlDeviceGetHandleByIndex_v2":
                    return 0 if given[0].value == 0 else 2  # type: ignore[attr-defined]
                case "nvmlDeviceGetMinorNumber":
                    given[1]._obj.value = 3  # type: ignore[attr-defined]
                case "nvmlDeviceGetName":
                    given[1].value = b"NVIDIA H200"  # type: ignore[attr-defined]
                case "nvmlDeviceGetMemoryInfo":
                    given[1]._obj.total, given[1]._obj.used = 141 << 30, 1 << 30  # type: ignore[attr-defined]
                case "nvmlDeviceGetUtilizationRates":
                    given[1]._obj.gpu = 100  # type: ignore[attr-defined]
                case "nvmlDeviceGetClockInfo":
                    given[2]._obj.value = 1980  # type: ignore[attr-defined]
                case "nvmlDeviceGetComputeRunningProcesses_v3":
                    given[1]._obj.value = 1  # type: ignore[attr-defined]
                    given[2][0].pid = 4321  # type: ignore[index]
            return 0

        return call


def test_nvidias_library_is_asked_for_the_gpu_of_the_node(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sandbox_runner.gpus._load", _Library)
    watch = open_watch(3, lambda _: True)
    watch.proc = tmp_path
    assert (watch.gpu.name, watch.gpu.memory_bytes) == ("NVIDIA H200", 141 << 30)
    assert watch.look() == Sight(1 << 30, frozenset({4321}), 1.0, 1980)


def test_without_nvidias_library_nothing_is_guessed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sandbox_runner.gpus._LIBRARIES", ("libno-such-library.so.9",))
    watch = open_watch(0, lambda _: True)
    watch.proc = tmp_path
    assert watch.look() == Sight()
