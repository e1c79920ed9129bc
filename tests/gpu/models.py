"""The table of real models: forward and training step, TF32, bfloat16 (some float16), eager and compiled; JSON lines.

    python tests/gpu/models.py [--models A,B] [--work W] [--types T] [--seconds N] [--small] > models.jsonl

Run by the learners' interpreter. On a host with GPUs each is measured by one process alone on it. What is compiled is
compiled ahead by many processes, on the last GPU, into a cache that all share, while what is eager is measured on the
others; the last GPU measures once they are done. Random weights, no network.
Law: what cannot be measured is a line too, with its reason. Nothing is measured on a GPU on which something compiles.
`--small` makes models of a few thousand weights, for trying this program without a GPU; its figures mean nothing.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import zoo  # type: ignore[import-not-found] # beside this file, wherever it is started from

PRODUCTS = re.compile(
    r"gemm|conv|xmma|cutlass|cudnn|flash|attention|wgrad|dgrad|nvjet|matmul|::mm|addmm", re.IGNORECASE
)
LAUNCH_SHARE, PRODUCT_SHARE = 0.7, 0.5
"""Under the first share of the time busy, a GPU waits for launches; over the second of its work, products limit it."""
_LEAST_CALLS = 5
_AHEAD_EACH, _MOST_AHEAD = 2, 14
"""Cores for each process that compiles, and how many of them a GPU's memory holds at once."""
_CORES_TO_MEASURE = 2
_TO_MEASURE = 0.45
"""The share of the time that is left for measuring on every GPU: what was not compiled before it is left out."""


def ways(chosen: argparse.Namespace, *, compiled: bool) -> Iterator[tuple[str, str, str]]:
    """Give every model, work and type, those that take long to compile first."""
    models = chosen.models.split(",")
    for work in (work for work in reversed(zoo.WORK) if work in chosen.work.split(",")):
        for kind in (kind for kind in zoo.TYPES if kind in chosen.types.split(",")):
            for name in models if not compiled else reversed(models):
                if kind != "float16" or name in zoo.HALF:
                    yield name, work, kind


def prepared(chosen: argparse.Namespace) -> tuple[Any, str]:
    """Import torch and set how precise its products are; say where things run."""
    import torch  # noqa: PLC0415 - the one that starts the others needs none

    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.allow_tf32 = True
    torch.set_num_threads(1 if chosen.role else torch.get_num_threads())
    return torch, "cuda" if torch.cuda.is_available() else "cpu"


def call_of(torch: Any, device: str, chosen: argparse.Namespace, way: tuple[str, str, str], *, compiled: bool) -> Any:  # noqa: ANN401
    """Build one way; give its call and the inputs' shape."""
    name, work, kind = way
    torch.manual_seed(0)
    torch._dynamo.reset()
    model = zoo.built(name, small=chosen.small).to(device)
    inputs, shape = zoo.given(name, torch, device, small=chosen.small)
    return zoo.step(model, inputs, work, kind, torch, device, compiled=compiled), shape


def ahead(chosen: argparse.Namespace) -> None:
    """Compile what no other has claimed, and say for each how long its first call took."""
    torch, device = prepared(chosen)
    for way in ways(chosen, compiled=True):
        if not claimed(chosen, "ahead", way):
            continue
        line: dict[str, object] = {}
        try:
            call, _ = call_of(torch, device, chosen, way, compiled=True)
            start = time.perf_counter()
            call()
            synchronized(torch, device)
            line["compile_s"] = round(time.perf_counter() - start, 2)
        except Exception as error:  # noqa: BLE001 - it will fail again where it is measured, and be told there
            line["error"] = f"{type(error).__name__}: {error}"[:300]
        call = None
        if device == "cuda":
            torch.cuda.empty_cache()
        aside = marker(chosen, way).with_suffix(".new")
        aside.write_text(json.dumps(line))
        aside.rename(marker(chosen, way))


def measure(chosen: argparse.Namespace) -> None:
    """Measure what no other has claimed: eager ways first, compiled ones as they are ready, then those left."""
    torch, device = prepared(chosen)
    torch._inductor.config.compile_threads = 1
    peaks = ceilings(torch, device)
    say(ceilings=peaks, gpu=torch.cuda.get_device_name() if device == "cuda" else "")
    for way in ways(chosen, compiled=False):
        if time.time() < chosen.ends and claimed(chosen, "eager", way):
            say(**measured(torch, device, chosen, way, peaks, compiled=False))
    left = [] if chosen.no_compile else list(ways(chosen, compiled=True))
    while left and time.time() < chosen.ends:
        ready = [way for way in left if marker(chosen, way).exists()]
        done = Path(chosen.folder, "ahead_done").exists()
        for way in ready:
            if time.time() < chosen.ends and claimed(chosen, "compiled", way):
                cold = json.loads(marker(chosen, way).read_text()).get("compile_s")
                say(**measured(torch, device, chosen, way, peaks, compiled=True), cold_s=cold)
            left.remove(way)
        if not ready and done:
            break
        if not ready:
            time.sleep(0.2)
    for name, work, kind in left:
        if claimed(chosen, "compiled", (name, work, kind)):
            late = "not compiled, or not reached, in the time that there was"
            say(model=name, work=work, dtype=kind, compiled=True, error=late)


def measured(  # noqa: PLR0913 - one way
    torch: Any,  # noqa: ANN401
    device: str,
    chosen: argparse.Namespace,
    way: tuple[str, str, str],
    peaks: dict[str, float],
    *,
    compiled: bool,
) -> dict[str, object]:
    """Measure one way: first call, median and least of the others, memory, what the GPU did, and what limits it."""
    name, work, kind = way
    line: dict[str, object] = {"model": name, "work": work, "dtype": kind, "compiled": compiled}
    try:
        call, shape = call_of(torch, device, chosen, way, compiled=compiled)
        if device == "cuda":
            torch.cuda.reset_peak_memory_stats()
        first, took = timed(call, lambda: synchronized(torch, device), chosen.each)
        median = statistics.median(took)
        line |= {"shape": shape, "first_s": round(first, 3), "calls": len(took)}
        line |= {"median_ms": round(median, 4), "least_ms": round(min(took), 4)}
        if device == "cuda":
            line["peak_mib"] = round(torch.cuda.max_memory_allocated() / 2**20)
            line |= limited(torch, call, median, 0.0 if compiled else peaks[kind])
    except Exception as error:  # noqa: BLE001 - one way that fails keeps back no other
        line["error"] = f"{type(error).__name__}: {error}"[:300]
        line["trace"] = traceback.format_exc()[-600:]
    if device == "cuda":
        torch.cuda.empty_cache()
    return line


def timed(call: Callable[[], None], finish: Callable[[], None], seconds: float) -> tuple[float, list[float]]:
    """Give the first call's seconds, and the milliseconds of the later ones, after a warm-up by time."""
    start = time.perf_counter()
    call()
    finish()
    first = time.perf_counter() - start
    end = time.perf_counter() + seconds / 3
    while time.perf_counter() < end:
        call()
        finish()
    took: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(took) < _LEAST_CALLS:
        finish()
        start = time.perf_counter()
        call()
        finish()
        took.append((time.perf_counter() - start) * 1e3)
    return first, took


def limited(
    torch: Any,  # noqa: ANN401
    call: Callable[[], None],
    median_ms: float,
    peak: float,
) -> dict[str, object]:
    """Say what limits a call, by the GPU's own times: launches, products of matrices, or memory.

    `busy` is the kernels' time over the measured time, `products` the share of it in products and convolutions,
    `reached` the work in products over the whole time, as a share of `peak` (operations a second; 0: not asked).
    """
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
        call()
        torch.cuda.synchronize()
    kernels = [one for one in seen.events() if one.device_type == torch.autograd.DeviceType.CUDA]
    times = [(one.name, one.time_range.elapsed_us()) for one in kernels if not one.name.startswith("Mem")]
    total = sum(took for _, took in times)
    products = sum(took for name, took in times if PRODUCTS.search(name)) / total if total else 0.0
    busy = min(total / (median_ms * 1e3), 1.0)
    found: dict[str, object] = {"kernels": len(times), "busy": round(busy, 3), "products": round(products, 3)}
    limit = "launch" if busy < LAUNCH_SHARE else "matmul" if products >= PRODUCT_SHARE else "memory"
    flops = counted(torch, call) if peak else 0
    if flops:
        found |= {"tflop": round(flops / 1e12, 4), "reached": round(flops / (median_ms / 1e3) / peak, 4)}
    return found | {"limit": limit}


def counted(torch: Any, call: Callable[[], None]) -> int:  # noqa: ANN401
    """Count the operations in products of one eager call; 0 where they cannot be told."""
    from torch.utils.flop_counter import FlopCounterMode  # noqa: PLC0415

    try:
        with FlopCounterMode(display=False) as counter:
            call()
        torch.cuda.synchronize()
        return int(counter.get_total_flops())
    except Exception:  # noqa: BLE001 - then it is not known
        return 0


def ceilings(torch: Any, device: str) -> dict[str, float]:  # noqa: ANN401
    """Measure what this GPU gives: operations a second in products of each type, bytes a second in a copy."""
    if device != "cuda":
        return {}
    found = {}
    for kind, name in zoo.TYPES.items():
        x = torch.randn(8192, 8192, device=device, dtype=getattr(torch, name))
        found[kind] = 2 * 8192**3 / best_s(torch, partial(torch.matmul, x, x))
    source = torch.empty(1 << 30, device=device, dtype=torch.uint8)
    target = torch.empty_like(source)
    found["copy"] = 2 * (1 << 30) / best_s(torch, lambda: target.copy_(source))
    torch.cuda.empty_cache()
    return found


def best_s(torch: Any, call: Callable[[], object]) -> float:  # noqa: ANN401
    """Give the least seconds of ten calls, by the GPU's own events."""
    took = []
    for _ in range(13):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        took.append(begin.elapsed_time(end) / 1e3)
    return float(min(took[3:]))


def synchronized(torch: Any, device: str) -> None:  # noqa: ANN401
    """Wait for the GPU, where there is one."""
    if device == "cuda":
        torch.cuda.synchronize()


def claimed(chosen: argparse.Namespace, what: str, way: tuple[str, str, str]) -> bool:
    """Say whether this process is the first to come to it."""
    try:
        Path(chosen.folder, f"{what}.{'.'.join(way)}").mkdir()
    except FileExistsError:
        return False
    return True


def marker(chosen: argparse.Namespace, way: tuple[str, str, str]) -> Path:
    """Where it stands that a way has been compiled."""
    return Path(chosen.folder, f"ready.{'.'.join(way)}.json")


def say(**line: object) -> None:
    """Print a line."""
    print(json.dumps(line), flush=True)


def together(chosen: argparse.Namespace, words: list[str]) -> int:
    """Start the processes, one to measure a GPU and many to compile, and wait for them."""
    listed = os.environ.get("CUDA_VISIBLE_DEVICES") or ",".join(
        map(str, range(len(list(Path("/dev").glob("nvidia[0-9]*")))))
    )
    gpus, cores = listed.split(",") if listed else [""], sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        shared = {"TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor", "TRITON_CACHE_DIR": f"{folder}/triton"}
        shared |= {"OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": str(_AHEAD_EACH)}
        apart = _CORES_TO_MEASURE * len(gpus)

        def start(role: str, gpu: str, own: list[int]) -> "subprocess.Popen[bytes]":
            command = [sys.executable, __file__, *words, "--role", role, "--folder", folder, "--ends", str(chosen.ends)]
            placed = ["taskset", "-c", ",".join(map(str, own or cores))]
            return subprocess.Popen([*placed, *command], env=os.environ | shared | {"CUDA_VISIBLE_DEVICES": gpu})

        count = (
            0 if chosen.no_compile else chosen.ahead or min(max((len(cores) - apart) // _AHEAD_EACH, 1), _MOST_AHEAD)
        )
        compiling = [start("ahead", gpus[-1], cores[apart:]) for _ in range(count)]
        places = [cores[i * _CORES_TO_MEASURE : (i + 1) * _CORES_TO_MEASURE] for i in range(len(gpus))]
        measuring = [start("measure", gpus[i], places[i]) for i in range(len(gpus) - 1)]
        for process in compiling:
            try:
                process.wait(max(chosen.ends - chosen.seconds * _TO_MEASURE - time.time(), 1.0))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        Path(folder, "ahead_done").touch()
        measuring.append(start("measure", gpus[-1], places[-1]))
        for process in measuring:
            process.wait()
    return max((process.returncode for process in measuring), default=0)


def main() -> int:
    """Print a line for each measurement, and what this GPU gives at most."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--models", default=",".join(zoo.names()), help="names with commas between")
    parser.add_argument("--work", default=",".join(zoo.WORK), help="with commas between")
    parser.add_argument("--types", default=",".join(zoo.TYPES), help="with commas between")
    parser.add_argument("--each", type=float, default=0.6, help="seconds of timing for each measurement")
    parser.add_argument("--seconds", type=float, default=440.0, help="begin nothing more after so long")
    parser.add_argument("--ahead", type=int, default=0, help="how many processes compile ahead (0: by the cores)")
    parser.add_argument("--no-compile", action="store_true", help="eager only")
    parser.add_argument("--small", action="store_true", help="tiny models, to try this program")
    parser.add_argument("--list", action="store_true", help="only print the models' names")
    parser.add_argument("--role", choices=["ahead", "measure"], default="", help=argparse.SUPPRESS)
    parser.add_argument("--folder", default="", help=argparse.SUPPRESS)
    parser.add_argument("--ends", type=float, default=0.0, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.list:
        print("\n".join(zoo.names()))
        return 0
    options = (chosen.models, zoo.names()), (chosen.work, zoo.WORK), (chosen.types, zoo.TYPES)
    unknown = sorted(name for given, known in options for name in set(given.split(",")) - set(known))
    if unknown:
        print(f"not known: {', '.join(unknown)}; --list prints the models", file=sys.stderr)
        return 2
    if chosen.role:
        {"ahead": ahead, "measure": measure}[chosen.role](chosen)
        return 0
    chosen.ends = time.time() + chosen.seconds
    return together(chosen, sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
