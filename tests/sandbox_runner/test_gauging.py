"""The instrument measures itself in idle moments, keeps what the machine can do, and holds times against it."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import plain_harness
import pytest

from sandbox_runner import gauging
from sandbox_runner.gauging import Gauge, better, gauge, keep_gauged, read_ceilings, write_ceilings
from sandbox_runner.hostlock import HostLock
from sandbox_runner.printing import show_gauge
from sandbox_runner.protocol import Capabilities, Claim, Ending, Job, JobKind, Machine, Ratio, Result, Variant
from sandbox_runner.reaching import ceilings_on, reach

MACHINE = Machine(cpu="A CPU", cores=2, threads=1, numpy="2.4", torch="")


class Measuring:
    """Stands in for a worker: every job comes out with the times given by its variants' names."""

    def __init__(self, noise: float = 0.01) -> None:
        self.noise = noise
        self.sources: list[str] = []

    async def __call__(self, job: Job) -> Result:
        self.sources.append(job.source)
        names = [line.removeprefix("# %% ") for line in job.source.splitlines() if line.startswith("# %%")]
        variants = tuple(Variant(name, 2e6, 1e6, (2e6, 2e6), 20, 1, 2e6) for name in names)
        ratio = Ratio(names[1], names[0], 1.0, (0.99, 1.01), Claim.SAME, 20)
        result = Result(job.id, JobKind.TIME, Ending.OK, variants=variants, ratios=(ratio,), noise=self.noise)
        return replace(result, ending=Ending.INFRA_ERROR) if self.noise < 0 else result


async def test_noise_and_ceilings_are_measured_and_the_ceilings_kept(tmp_path: Path) -> None:
    path, attempt = tmp_path / "kept" / "ceilings.json", Measuring()
    found = await gauge(attempt, MACHINE, path)
    assert (found.noise, found.equal) == (0.01, True)
    assert set(found.ceilings) == {"matmul_float32", "matmul_float64", "copy", "noise"}
    assert found.ceilings["matmul_float32"] == pytest.approx(2 * 768**3 * 1e3)
    again = Measuring()
    assert (await gauge(again, MACHINE, path)).ceilings == found.ceilings
    assert again.sources == [gauging.EQUAL]


async def test_ceilings_measured_in_noise_are_measured_again_and_the_higher_kept(tmp_path: Path) -> None:
    path = tmp_path / "ceilings.json"
    await gauge(Measuring(noise=0.5), MACHINE, path)
    attempt = Measuring(noise=0.02)
    found = await gauge(attempt, MACHINE, path)
    assert len(attempt.sources) == 2
    assert found.ceilings["noise"] == 0.02


async def test_a_gpus_ceilings_are_measured_on_it_and_kept_beside_the_processors(tmp_path: Path) -> None:
    path, attempt = tmp_path / "ceilings.json", Measuring()
    await gauge(attempt, MACHINE, path)
    found = await gauge(attempt, MACHINE, path, cuda=True)
    assert attempt.sources[2:] == [gauging.EQUAL, gauging.TORCH_CUDA]
    names = {"float32", "tf32", "bfloat16", "float16", "float64"}
    on_gpu = ceilings_on(found.ceilings, cuda=True)
    assert set(on_gpu) == {*(f"matmul_{name}" for name in names), "copy", "noise"}
    assert on_gpu["matmul_tf32"] == pytest.approx(2 * 8192**3 * 1e3)
    assert on_gpu["copy"] == pytest.approx(2 * (512 << 20) * 1e3)
    assert set(ceilings_on(found.ceilings, cuda=False)) == {"matmul_float32", "matmul_float64", "copy", "noise"}
    assert (await gauge(attempt, MACHINE, path, cuda=True)).ceilings == found.ceilings
    assert len(attempt.sources) == 5


async def test_what_cannot_be_measured_is_left_out() -> None:
    assert await gauge(Measuring(noise=-1), MACHINE, None) == Gauge()


def test_ceilings_of_another_machine_or_of_a_broken_file_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "ceilings.json"
    write_ceilings(path, MACHINE, {"copy": 5.0})
    assert read_ceilings(path, MACHINE) == {"copy": 5.0}
    assert read_ceilings(path, replace(MACHINE, torch="2.13")) == {}
    write_ceilings(path, replace(MACHINE, torch="2.13"), {"copy": 6.0})
    assert read_ceilings(path, MACHINE) == {"copy": 5.0}
    path.write_text(json.dumps({gauging.key(MACHINE): [1]}), encoding="utf-8")
    assert read_ceilings(path, MACHINE) == {}
    path.write_text("{", encoding="utf-8")
    assert read_ceilings(path, MACHINE) == {}
    assert read_ceilings(tmp_path, MACHINE) == {}


def test_the_better_of_two_ceilings_is_kept() -> None:
    assert better({"a": 1.0, "noise": 0.3}, {"a": 2.0, "b": 1.0, "noise": 0.1}) == {"a": 2.0, "b": 1.0, "noise": 0.1}
    assert better({}, {}) == {}


async def test_gauging_gives_way_to_whoever_asks_for_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gauging, "CALM_S", 0.02)
    monkeypatch.setattr(gauging, "POLL_S", 0.01)
    tries, began, told, busy = 0, asyncio.Event(), asyncio.Event(), False

    async def measuring() -> Gauge:
        nonlocal tries, busy
        tries += 1
        began.set()
        if tries == 1:
            busy = True
            await asyncio.sleep(60)
        return Gauge(0.01)

    keeping = asyncio.create_task(
        keep_gauged(measuring, HostLock(tmp_path / "lock"), lambda: not busy, lambda _: told.set())
    )
    await began.wait()
    async with HostLock(tmp_path / "lock").held(alone=False):
        assert not told.is_set()
    busy = False
    await told.wait()
    assert tries == 2
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)


def test_the_gauge_is_laid_out_for_an_operator() -> None:
    shown = show_gauge(Capabilities(noise=0.0123, ceilings={"matmul_float32": 1.5e11, "copy": 2e10, "noise": 0.02}))
    assert shown.splitlines() == [
        "noise of one block on equal work: 1.23%",
        "  at most 20 GB/s (copy)",
        "  at most 150 GFLOP/s (matmul_float32)",
        "  noise while the ceilings were measured: 2.00%",
    ]
    assert show_gauge(Capabilities()) == "noise: not measured"


CEILINGS = {"matmul_float32": 1e11, "copy": 1e10, "noise": 0.01}


@pytest.mark.parametrize(
    ("ns", "flops", "moved", "bound", "share"),
    [
        (2e6, 10**8, 0, "compute", 0.5),
        (2e6, 0, 10**7, "memory", 0.5),
        (2e6, 10**8, 10**6, "compute", 0.5),
        (2e6, 10**7, 10**7, "memory", 0.5),
        (2e6, 10**6, 10**9, "compute", 0.005),
        (2e6, 10**6, 3 * 10**7, "cache", 0.005),
        (2e6, 0, 3 * 10**7, "cache", 0.0),
        (1e7, 0, 102 * 10**6, "memory", 1.0),
        (2e6, 204 * 10**6, 0, "compute", 1.0),
        (2e6, 0, 0, "", 0.0),
    ],
)
def test_the_bound_that_applies_is_named_with_the_share_reached(
    ns: float, flops: int, moved: int, bound: str, share: float
) -> None:
    found = reach(ns, flops, moved, "float32", CEILINGS)
    assert (found.bound, found.impossible) == (bound, False)
    assert found.share == pytest.approx(share)


def test_faster_than_the_machine_is_impossible_where_the_ceilings_were_measured_in_quiet() -> None:
    assert reach(1e5, 10**8, 0, "float32", CEILINGS).impossible
    assert not reach(1e5, 10**8, 0, "float32", CEILINGS | {"noise": 0.3}).impossible
    assert not reach(1e5, 10**8, 0, "bfloat16", CEILINGS).impossible
    assert not reach(0.98e6, 10**8, 0, "float32", CEILINGS).doubtful
    little = reach(0.8e6, 10**8, 0, "float32", CEILINGS)
    assert (little.doubtful, little.impossible) == (True, False)
    spared = reach(0.5e6, 10**8, 0, "float32", CEILINGS, least=10**8 * 4 // 9)
    assert (spared.doubtful, spared.impossible) == (False, False)


COUNTED = """\
import numpy as np
x = np.ones((30, 20), dtype=np.float32)
w = np.ones((20, 10), dtype=np.float32)
# %% product
x @ w
# %% dot
np.dot(x, w)
# %% elementwise
x * 2
"""


async def test_products_and_bytes_of_a_call_are_counted() -> None:
    seen = (await plain_harness.timed(COUNTED)).measured
    product, dot, elementwise = seen.variants
    assert (product.flops, product.bytes) == (2 * 30 * 20 * 10, 4 * (600 + 200 + 300))
    assert dot.flops == product.flops
    assert (elementwise.flops, elementwise.bytes) == (0, 4 * 1200)


async def test_a_time_under_the_machines_floor_is_not_believed() -> None:
    slow = {"matmul_float32": 1e3, "noise": 0.0}
    seen = (await plain_harness.timed(COUNTED, ceilings=slow)).measured
    assert (seen.ending, seen.flags[-1].code, seen.variants) == (
        Ending.SUSPICIOUS_TIMING,
        "faster_than_machine",
        (),
    )


@pytest.mark.sandbox
async def test_products_of_tensors_are_counted() -> None:
    source = "import torch\nx = torch.ones(30, 20)\nw = torch.ones(20, 10)\n# %% product\nx @ w\n"
    seen = (await plain_harness.timed(source)).measured
    assert (seen.variants[0].flops, seen.variants[0].bytes) == (2 * 30 * 20 * 10, 4 * (600 + 200 + 300))
