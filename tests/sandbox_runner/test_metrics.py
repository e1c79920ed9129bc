"""The runner's figures: counted from its journal, shown as Prometheus reads them, and of no learner."""

import asyncio
import io
import json
import os
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sandbox_runner.client import RunnerClient
from sandbox_runner.errors import SetupError
from sandbox_runner.journal import Journal
from sandbox_runner.metrics import Tally, as_text
from sandbox_runner.protocol import Capabilities, Device, Finished, Job, JobKind, Wall
from sandbox_runner.showing import BUCKETS_S, alive, shown

ROOT = Path(__file__).resolve().parents[2]
LINE = re.compile(r'[a-z_]+(?:\{[a-z_]+="(?:[^"\\]|\\.)*"(?:,[a-z_]+="(?:[^"\\]|\\.)*")*\})? [0-9.e+-]+')


class Clock:
    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


def counted() -> tuple[Tally, Clock, io.StringIO]:
    out, clock = io.StringIO(), Clock()
    return Tally(Journal(out, lambda: datetime(2026, 12, 1, tzinfo=UTC), b"s" * 16), clock), clock, out


def figures(text: str) -> dict[str, float]:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert all(LINE.fullmatch(line) for line in lines), lines
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}


ABLE = Capabilities(
    devices=(Device.CPU,),
    slots=2,
    noise=0.011,
    walls=(Wall("network", stands=True, matters=True), Wall('odd"\n', stands=False, matters=False)),
)


def test_what_the_journal_notes_is_counted_and_still_written() -> None:
    tally, clock, out = counted()
    tally.note("accepted", job="j1", kind="run", learner="abc")
    tally.note("accepted", job="j2", kind="time", learner="abc")
    clock.at += 2.0
    tally.note("finished", job="j1", kind="run", ending="ok")
    tally.note("fault", job="j2", fault="x")
    tally.note("gpu_quarantined", gpu=0, why="x")
    tally.note("gpu_quarantined", gpu=0, why="y")
    clock.at += 400.0
    text = as_text(ABLE, {"queued": 1, "running": 0, "kept": 1}, tally)
    found = figures(text)
    assert found["tasree_runner_queued"] == 1
    assert found["tasree_runner_oldest_job_seconds"] == 402
    assert found['tasree_runner_runs_total{kind="run",ending="ok"}'] == 1
    assert found["tasree_runner_faults_total"] == 1
    assert found["tasree_runner_noise_ratio"] == 0.011
    assert found["tasree_runner_gpus_quarantined"] == 1
    assert found['tasree_runner_wall_stands{wall="network",matters="true"}'] == 1
    assert out.getvalue().count("\n") == 6
    assert "j1" not in text
    assert "abc" not in text
    tally.note("gpu_lent_again", gpu=0)
    assert "tasree_runner_gpus_quarantined 0" in as_text(ABLE, {"queued": 1, "running": 0}, tally)


def test_a_histogram_grows_with_its_bounds_and_ends_at_the_count() -> None:
    tally, clock, _ = counted()
    for place, took in enumerate((0.05, 0.2, 2.0, 1000.0)):
        tally.note("accepted", job=str(place))
        clock.at += took
        tally.note("finished", job=str(place), kind="run", ending="ok")
    found = figures(as_text(ABLE, {"queued": 0, "running": 0}, tally).replace('"+Inf"', '"inf"'))
    name = "tasree_runner_answer_seconds"
    rising = [found[f'{name}_bucket{{kind="run",le="{most:g}"}}'] for most in (*BUCKETS_S, float("inf"))]
    assert rising == sorted(rising)
    assert (rising[0], rising[-1], found[f'{name}_count{{kind="run"}}']) == (1, 4, 4)
    assert found[f'{name}_sum{{kind="run"}}'] == pytest.approx(1002.25)
    assert tally.oldest_s() == 0


async def asked(port: int, words: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(words)
    await writer.drain()
    answer = await reader.read()
    writer.close()
    return answer


async def test_only_the_pages_given_are_answered_and_bad_callers_leave_it_standing() -> None:
    pages = {"/metrics": lambda: (True, "figures\n"), "/health": alive, "/sick": lambda: (False, "the store\n")}
    async with shown("127.0.0.1", 0, pages) as port:
        assert b"404" in await asked(port, b"GET /secret HTTP/1.1\r\n\r\n")
        assert await asked(port, b"x" * 20_000) == b""
        assert (await asked(port, b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")).endswith(b"\r\n\r\nok\n")
        answer = await asked(port, b"GET /metrics HTTP/1.1\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
        assert answer.endswith(b"\r\n\r\nfigures\n")
        assert (await asked(port, b"GET /sick HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.1 503 ")
        assert b"404" in await asked(port, b"GET\r\n\r\n")
        assert b"404" in await asked(port, b"POST /metrics HTTP/1.1\r\n\r\n")
        with pytest.raises(SetupError, match="cannot show figures"):
            async with shown("127.0.0.1", port, pages):
                pass


async def test_a_serving_runner_shows_the_runs_that_it_was_given(tmp_path: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "TASREE_RUNNER_LOCK": str(tmp_path / "lock"),
        "TASREE_RUNNER_SOCKET": str(tmp_path / "socket"),
        "TASREE_RUNNER_SECRET": "a secret that is long enough",
        "TASREE_RUNNER_METRICS": "127.0.0.1:0",
    }
    program = Path(__file__).with_name("stand_in_runner.py")
    server = await asyncio.create_subprocess_exec(
        sys.executable, program, "serve", env=environment, cwd=ROOT, stderr=asyncio.subprocess.PIPE
    )
    try:
        assert server.stderr is not None
        noted: dict[str, dict[str, str]] = {}
        while "serving" not in noted:
            line = json.loads(await asyncio.wait_for(server.stderr.readline(), 60))
            noted[line["event"]] = line
        port = int(noted["metrics"]["address"].removesuffix("/metrics").rpartition(":")[2])
        client = RunnerClient(f"unix:{tmp_path / 'socket'}", environment["TASREE_RUNNER_SECRET"])
        async with asyncio.timeout(60):
            events = [event async for event in client.submit(Job("j1", JobKind.RUN, "", "learner"))]
        await client.close()
        assert isinstance(events[-1], Finished)
        text = (await asked(port, b"GET /metrics HTTP/1.1\r\n\r\n")).decode().split("\r\n\r\n", 1)[1]
        found = figures(text.replace('"+Inf"', '"inf"'))
        ending = events[-1].result.ending.value
        assert found[f'tasree_runner_runs_total{{kind="run",ending="{ending}"}}'] == 1
        assert found['tasree_runner_answer_seconds_count{kind="run"}'] == 1
    finally:
        server.terminate()
        await server.wait()
