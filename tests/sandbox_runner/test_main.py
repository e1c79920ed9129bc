import asyncio
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from sandbox_runner.__main__ import main
from sandbox_runner.client import Backoff, RunnerClient
from sandbox_runner.errors import UnavailableError
from sandbox_runner.protocol import Accepted, Ending, Finished, Job, JobKind, Result
from sandbox_runner.testing import MISSING, StandInWorker, assemble_stand_in

STAND_IN = (sys.executable, str(Path(__file__).with_name("stand_in_runner.py")))
SECRET = "correct horse battery staple"  # noqa: S105 - the tests' own

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Call the commands in this process, with the stand-in worker."""
    monkeypatch.setenv("TASREE_RUNNER_LOCK", str(tmp_path / "lock"))
    monkeypatch.chdir(tmp_path)

    def one(*words: str, **walls: object) -> tuple[int, str, str]:
        try:
            status = main(words, assemble_stand_in(StandInWorker(), *([MISSING] if walls else [])))
        except SystemExit as left:
            status = int(str(left.code))
        said = capsys.readouterr()
        return status, said.out, said.err

    return one


def test_a_run_prints_its_result_as_json(call: Call, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("say hello")
    status, out, _ = call("run", "x.py", "--json")
    result = json.loads(out)
    assert status == 0
    assert (result["ending"], result["stdout"]["head"]) == ("ok", "hello")
    assert set(result["stdout"]) == {"head", "tail", "bytes", "dropped"}
    assert {"stderr", "files", "phases_ms", "walls", "variants", "ratios", "machine", "flags"} <= set(result)


def test_a_run_prints_a_table_without_json(call: Call, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("say hello")
    status, out, _ = call("run", "x.py")
    assert status == 0
    assert out.startswith("run: ok on cpu\n")
    assert "    hello\n" in out


def test_what_the_code_wrote_reaches_the_terminal_without_control_characters(call: Call, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("say a\x1b[2Jb\u202ec")
    _, out, _ = call("run", "x.py")
    assert "a\\x1b[2Jb\\u202ec" in out


def test_a_dash_reads_standard_input(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO("say سلام".encode())))
    status, out, _ = call("run", "-", "--json")
    assert status == 0
    assert json.loads(out)["stdout"]["head"] == "سلام"


def test_several_gpus_need_cuda_and_a_number(call: Call, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("say x")
    assert call("run", "x.py", "--gpus", "2") == (2, "", "sandbox_runner run: --gpus 2 needs --device cuda\n")
    status, _, err = call("run", "x.py", "--device", "cuda", "--gpus", "none")
    assert status == 2
    assert "'none' is not a whole number from 1 to 64" in err


def test_a_time_takes_a_budget(call: Call, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("say x")
    assert call("time", "x.py", "--budget", "quick", "--json")[0] == 0


def test_a_device_is_asked_for_by_name(call: Call, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("say x")
    assert call("run", "x.py", "--device", "tpu")[0] == 2
    assert call("run", "x.py", "--device", "cuda")[1].startswith("run: ok on c")


def test_a_fault_of_ours_is_status_3_and_still_a_result(call: Call, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("broken")
    status, out, _ = call("run", "x.py", "--json")
    assert status == 3
    assert json.loads(out)["ending"] == "infra_error"


def test_a_source_that_is_too_large_is_a_result(call: Call, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("#" * 300_000)
    status, out, _ = call("run", "x.py", "--json")
    assert status == 0
    assert json.loads(out)["ending"] == "too_large"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "nothing.py"], "nothing.py: No such file or directory"),
        (["run", "."], ".: Is a directory"),
        (["run", "bad.py"], "bad.py: byte 3 is not UTF-8"),
        ([], "required: command"),
        (["run"], "required: FILE"),
        (["fly"], "invalid choice: 'fly'"),
        (["time", "x.py", "--budget", "long"], "invalid choice: 'long'"),
        (["serve"], "one address is needed"),
        (["serve", "--socket", "s", "--listen", ":1"], "not both"),
        (["serve", "--listen", "here"], "--listen 'here' is not HOST:PORT"),
        (["serve", "--socket", "s", "--slots", "0"], "'0' is not a whole number from 1 to 256"),
    ],
)
def test_a_wrong_call_is_status_2_and_names_what_is_wrong(
    call: Call, tmp_path: Path, words: list[str], said: str
) -> None:
    (tmp_path / "bad.py").write_bytes(b"abc\xff")
    status, out, err = call(*words)
    assert (status, out) == (2, "")
    assert said in err


def test_a_wrong_setting_is_named(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("say x")
    monkeypatch.setenv("TASREE_RUNNER_SLOTS", "many")
    status, _, err = call("run", "x.py")
    assert status == 3
    assert "TASREE_RUNNER_SLOTS: 'many'" in err


def test_a_probe_says_what_stands_and_how_to_mend_the_rest(call: Call) -> None:
    status, out, _ = call("probe", missing=True)
    assert status == 0
    assert "seccomp  MISSING  yes      ptrace worked" in out
    assert "apt-get install libseccomp2" in out
    assert "ok   disk" in out
    told = json.loads(call("probe", "--json")[1])
    assert [(wall["name"], wall["stands"]) for wall in told["walls"]] == [("network", True)]
    assert {each["thing"] for each in told["host"]} == {"disk", "clock"}


def test_serving_without_a_secret_says_how_to_make_one(call: Call) -> None:
    status, _, err = call("serve", "--socket", "s")
    assert status == 3
    assert "TASREE_RUNNER_SECRET_FILE" in err
    assert "token_urlsafe" in err


def test_serving_on_tcp_without_tls_is_refused(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASREE_RUNNER_SECRET", SECRET)
    status, _, err = call("serve", "--listen", ":0")
    assert status == 3
    assert "needs TLS" in err


def test_serving_without_a_wall_that_matters_is_refused_with_how_to_mend_it(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TASREE_RUNNER_SECRET", SECRET)
    status, _, err = call("serve", "--socket", "s", missing=True)
    assert status == 3
    assert "seccomp: ptrace worked" in err
    assert "apt-get install libseccomp2" in err
    assert "--accept-missing NAME" in err
    assert not Path("s").exists()


def test_accepting_a_wall_that_there_is_not_is_refused(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASREE_RUNNER_SECRET", SECRET)
    status, _, err = call("serve", "--socket", "s", "--accept-missing", "moat")
    assert status == 3
    assert "moat: no wall has this name; there are network" in err


class Serving:
    """A `serve` of the stand-in in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "runner"
        secret = folder / "secret"
        secret.write_text(SECRET)
        secret.chmod(0o600)
        self._secret = secret
        self.process: subprocess.Popen[str] | None = None

    def start(self, *words: str) -> "subprocess.Popen[str]":
        self.process = subprocess.Popen(
            [*STAND_IN, "serve", "--socket", str(self.path), "--secret-file", str(self._secret), *words],
            stderr=subprocess.PIPE,
            text=True,
            env={"PATH": os.environ["PATH"], "TASREE_RUNNER_LOCK": str(self.folder / "lock")},
        )
        return self.process

    def ready(self) -> dict[str, object]:
        """Wait for the line that says where it serves."""
        assert self.process is not None
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if '"serving"' in line:
                return dict(json.loads(line))
        raise AssertionError

    def client(self) -> RunnerClient:
        return RunnerClient(str(self.path), SECRET, backoff=Backoff(first_s=0.02, most_s=0.1, bound_s=0.5))


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    one = Serving(tmp_path)
    yield one
    if one.process is not None:
        one.process.kill()
        one.process.wait()
        assert one.process.stderr is not None
        one.process.stderr.close()


async def result(client: RunnerClient, job: Job) -> Result:
    async with asyncio.timeout(30):
        last = [event async for event in client.submit(job)][-1]
    assert isinstance(last, Finished)
    return last.result


async def test_an_accepted_missing_wall_is_carried_by_every_result(serving: Serving) -> None:
    serving.start("--a-wall-is-missing", "--accept-missing", "seccomp")
    await asyncio.to_thread(serving.ready)
    client = serving.client()
    assert (await client.capabilities()).accepted_missing == ("seccomp",)
    assert (await result(client, Job("a1", JobKind.RUN, "say x", "a"))).accepted_missing == ("seccomp",)
    await client.close()


async def test_a_second_runner_on_the_same_socket_does_not_start(serving: Serving, tmp_path: Path) -> None:
    serving.start()
    await asyncio.to_thread(serving.ready)
    other = Serving(tmp_path).start()
    _, err = await asyncio.to_thread(other.communicate)
    assert other.returncode == 3
    assert "already listens" in err
    client = serving.client()
    assert (await result(client, Job("a1", JobKind.RUN, "say x", "a"))).ending is Ending.OK
    await client.close()


async def test_the_first_signal_lets_what_runs_end_and_the_second_ends_all(serving: Serving) -> None:
    process = serving.start("--slots", "1")
    await asyncio.to_thread(serving.ready)
    client = serving.client()
    running, queued = (client.submit(Job(job_id, JobKind.RUN, "wait", job_id)) for job_id in ("a1", "b1"))
    assert await anext(running) == Accepted(0, 0.0)
    assert isinstance(await anext(queued), Accepted)
    process.send_signal(signal.SIGTERM)
    await asyncio.sleep(0.3)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert await asyncio.to_thread(process.wait, 30) == 0
    for events in (running, queued):
        with pytest.raises(UnavailableError):
            assert not [event async for event in events if isinstance(event, Finished)]
    assert not serving.path.exists()
    await client.close()


async def test_the_log_is_json_lines_and_names_no_secret(serving: Serving) -> None:
    process = serving.start()
    ready = await asyncio.to_thread(serving.ready)
    assert ready["address"] == f"unix:{serving.path}"
    client = serving.client()
    await result(client, Job("a1", JobKind.RUN, "raise topsecretcode", "learner-of-ours"))
    await client.close()
    process.send_signal(signal.SIGINT)
    _, log = await asyncio.to_thread(process.communicate)
    events = [json.loads(line)["event"] for line in log.splitlines()]
    assert events == ["accepted", "fault", "fault", "finished", "stopping", "stopped"]
    assert not any(word in log for word in (SECRET, "topsecretcode", "learner-of-ours"))


@pytest.mark.sandbox
def test_a_learners_error_is_a_result_behind_real_walls(app_python: Path, repository: Path, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("print('before')\n1/0\n")
    done = subprocess.run(
        [str(app_python), "-m", "sandbox_runner", "run", str(tmp_path / "x.py"), "--json"],
        capture_output=True,
        text=True,
        cwd=repository,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert (shown["ending"], shown["stdout"]["head"], shown["fault"]["line"]) == ("py_error", "before\n", 2)
    assert shown["walls"]


@pytest.mark.sandbox
def test_two_variants_are_timed_behind_real_walls(app_python: Path, repository: Path) -> None:
    source = "xs = list(range(300))\n# %% loop\nt = 0\nfor x in xs:\n    t += x\nt\n# %% sum\nsum(xs)\n"
    done = subprocess.run(
        [str(app_python), "-m", "sandbox_runner", "time", "-", "--json", "--budget", "quick"],
        input=source,
        capture_output=True,
        text=True,
        cwd=repository,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert shown["ending"] == "ok"
    assert [set(variant) >= {"name", "median_ns", "ci99_ns", "n", "first_call_ns"} for variant in shown["variants"]]
    assert [(ratio["name"], ratio["against"]) for ratio in shown["ratios"]] == [("sum", "loop")]
