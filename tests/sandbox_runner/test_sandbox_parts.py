"""The parts of the walls that need no sandbox: filter, policy, groups on a made-up tree, reports, collecting."""

import asyncio
import importlib.util
import json
import os
import struct
import types
from pathlib import Path

import pytest

from sandbox_runner.codec import decode
from sandbox_runner.errors import SetupError, WireError
from sandbox_runner.protocol import Limits
from sandbox_runner.sandbox import probing
from sandbox_runner.sandbox.cgroup import Cgroups, NoCgroupError, _limit_v1, find_cgroups
from sandbox_runner.sandbox.policy import Seccomp, load_policy
from sandbox_runner.sandbox.report import Report, read_report
from sandbox_runner.sandbox.seccomp import compile_filter


def test_the_filter_compiles_to_whole_instructions() -> None:
    assert len(compile_filter(load_policy().seccomp)) % 8 == 0


def test_a_call_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(SetupError, match="no_such_call"):
        compile_filter(Seccomp(("no_such_call",), (), (), (), (), (1,), (0,), (0,), ()))


def test_a_setting_of_the_probe_names_how_to_mend_every_wall() -> None:
    for name in (*probing.PROVEN_INSIDE, *probing.PROVEN_OUTSIDE, "uid_per_slot", "cgroup"):
        wall = probing._wall(name, "it gave way")
        assert (wall.stands, bool(wall.mend)) == (False, True)
        assert wall.matters is (name not in {"uid_per_slot", "cgroup"})


def test_a_policy_with_an_unknown_key_is_refused(tmp_path: Path) -> None:
    policy = json.loads((Path(__file__).parents[2] / "sandbox_runner" / "sandbox" / "policy.json").read_text())
    (tmp_path / "policy.json").write_text(json.dumps(policy | {"extra": 1}))
    with pytest.raises(WireError, match="extra"):
        load_policy(tmp_path / "policy.json")


def test_a_number_too_large_for_a_figure_is_refused_where_it_stands() -> None:
    with pytest.raises(WireError, match=r"\$\.run_s"):
        decode(Limits, {"run_s": 10**400})


def _tree(tmp_path: Path, cgroup: str, mounts: list[str]) -> Path:
    proc = tmp_path / "proc"
    proc.mkdir()
    (proc / "cgroup").write_text(cgroup)
    lines = [f"{30 + i} 23 0:{26 + i} / {mount} rw - {kind}" for i, (mount, kind) in enumerate(map(str.split, mounts))]
    (proc / "mountinfo").write_text("\n".join(line.replace("~", " ") for line in lines) + "\n")
    return proc


def test_a_host_without_controllers_says_so(tmp_path: Path) -> None:
    (tmp_path / "unified").mkdir()
    (tmp_path / "unified" / "cgroup.controllers").write_text("")
    proc = _tree(tmp_path, "0::/\n", [f"{tmp_path}/unified cgroup2~cgroup2~rw"])
    with pytest.raises(NoCgroupError, match="no memory and pids controller"):
        find_cgroups(proc)


def test_version_two_is_limited_in_one_folder(tmp_path: Path) -> None:
    groups = Cgroups(2, dict.fromkeys(("memory", "pids", "cpu"), tmp_path))
    group = groups.create("job", memory_bytes=1 << 20, processes=7, cores=1.5)
    folder = tmp_path / "job"
    written = {path.name: path.read_text() for path in folder.iterdir()}
    assert written == {"memory.max": "1048576", "pids.max": "7", "cpu.max": "150000 100000"}
    assert group.joins == (str(folder / "cgroup.procs"),)
    (folder / "memory.events").write_text("low 0\noom 2\noom_kill 3\n")
    (folder / "pids.events").write_text("max 4\n")
    (folder / "cpu.stat").write_text("usage_usec 2500000\n")
    (folder / "memory.peak").write_text("99\n")
    counters = group.counters()
    assert (counters.oom_kills, counters.forks_refused, counters.cpu_s, counters.peak_bytes) == (3, 4, 2.5, 99)


def test_version_one_is_limited_in_a_folder_a_controller(tmp_path: Path) -> None:
    parents = {name: tmp_path / name for name in ("memory", "pids", "cpuacct")}
    for parent in parents.values():
        parent.mkdir()
    group = Cgroups(1, parents).create("job", memory_bytes=1 << 20, processes=7, cores=0)
    assert (tmp_path / "memory" / "job" / "memory.limit_in_bytes").read_text() == "1048576"
    assert (tmp_path / "pids" / "job" / "pids.max").read_text() == "7"
    assert len(group.joins) == 3


def _frame(header: object, payload: bytes = b"") -> bytes:
    content = json.dumps(header).encode()
    return struct.pack(">II", len(content), len(payload)) + content + payload


_SEEN = {"kind": "ended", "status": 0, "canary": 0, "left": 0, "forced": False, "cpu_s": 0.1}
_SEEN |= {"free_bytes": 10, "free_inodes": 10}


async def _report(content: bytes) -> Report:
    reader, report, ended = asyncio.StreamReader(), Report(), asyncio.Event()
    reader.feed_data(content)
    reader.feed_eof()
    await read_report(reader, report, ended, file_bytes=100, files=2)
    assert ended.is_set()
    return report


async def test_a_whole_report_is_read() -> None:
    frames = [_frame({"kind": "started"}), _frame(_SEEN), _frame({"kind": "file", "name": "a.txt"}, b"x")]
    report = await _report(b"".join([*frames, _frame({"kind": "done"})]))
    assert (report.done, report.broken, [file.content for file in report.files]) == (True, "", [b"x"])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff" * 8,
        _frame({"kind": "done"}),
        _frame(_SEEN | {"cpu_s": -1.0}),
        _frame(_SEEN | {"status": "0"}),
        _frame(_SEEN) * 2,
        _frame(_SEEN) + _frame({"kind": "file", "name": "a"}, b"x" * 101),
        _frame(_SEEN) + _frame({"kind": "file", "name": "a"}) * 3,
        _frame([1]),
        _frame({"kind": "other"}),
        struct.pack(">II", 3, 0) + b"{{{",
        b'\0\0\0\x40\0\0\0\0{"kind":"ended","cpu_s":NaN}' + b" " * 40,
    ],
)
async def test_a_report_that_does_not_fit_is_broken(content: bytes) -> None:
    report = await _report(content)
    assert report.broken != ""
    assert not report.done


@pytest.fixture(scope="module")
def collecting(repository: Path) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location("collecting", repository / "sandbox_runner/harness/collecting.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    __import__("sys").modules["collecting"] = module
    spec.loader.exec_module(module)
    return module


def _collected(collecting: types.ModuleType, folder: Path, **caps: int) -> dict[str, str]:
    limits = {"files": 5, "file_bytes": 100, "total_bytes": 250} | caps
    entries = list(collecting.collect(str(folder), collecting.Caps(**limits)))
    return {entry.name: entry.why or entry.content.decode() for entry in entries}


def test_only_plain_files_of_known_kinds_are_collected(collecting: types.ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.exe").write_text("b")
    (tmp_path / "c.csv").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "d.json")
    (tmp_path / "e.txt").write_text("e")
    (tmp_path / "f.txt").hardlink_to(tmp_path / "e.txt")
    (tmp_path / "g.txt").write_text("g" * 101)
    with (tmp_path / "h.txt").open("wb") as hole:
        hole.truncate(1 << 40)
    (tmp_path / "i.png").write_text("no picture")
    assert _collected(collecting, tmp_path) == {
        "a.txt": "a",
        "b.exe": "kind",
        "c.csv": "link",
        "d.json": "special",
        "e.txt": "linked_twice",
        "f.txt": "linked_twice",
        "g.txt": "size",
        "h.txt": "size",
        "i.png": "not_png",
    }


def test_folders_are_walked_to_a_depth_without_following_links(collecting: types.ModuleType, tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "c.txt").write_text("c")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert _collected(collecting, tmp_path) == {"loop": "link", "a/b/c.txt": "c"}
    assert _collected(collecting, tmp_path, depth=1) == {"loop": "link", "a/b": "depth"}


def test_counts_and_sizes_are_capped(collecting: types.ModuleType, tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"{number}.txt").write_text("x" * 90)
    said = list(_collected(collecting, tmp_path).values())
    assert [len(one) for one in said[:2]] == [90, 90]
    assert said[2:] == ["total"] * 4
    assert list(_collected(collecting, tmp_path, files=1).values())[1:] == ["count"] * 5
    assert "too_many" in _collected(collecting, tmp_path, entries=3).values()


def test_version_1_caps_the_buffers_of_tcp_which_it_counts_apart(tmp_path: Path) -> None:
    (tmp_path / "memory.kmem.tcp.limit_in_bytes").touch()
    _limit_v1(dict.fromkeys(("memory", "pids", "cpuacct"), tmp_path), 64 << 20, 8, 0.0)
    assert (tmp_path / "memory.kmem.tcp.limit_in_bytes").read_text() == str(4 << 20)
