"""Looks inside examples of the lessons on this host's GPU, as «السبب» and `sandbox_runner inspect` do; one JSON a line.

    tests/gpu/inspecting.py

A program for a GPU host, started by `all.sh`. Each line says what was found and whether that is what the GPU must show:
Triton kernels of what compiles, launches, memory, the precision of products. Ends with 1 where something is missing.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

LESSONS = Path(__file__).resolve().parents[2] / "content" / "lessons"
EACH_S = 120
_ROWS = 2000


def _fused(found: list[dict[str, Any]]) -> bool:
    """Fewer kernels than the same call has as written, at least one of them in Triton, and it really ran."""
    compiled = [one for one in found if one["graphs"] and one["kernels"]]
    triton = [kernel for one in compiled for kernel in one["kernels"] if kernel["language"] == "triton"]
    fewer = all(0 < one["launches"] < one["eager_kernels"] for one in compiled)
    return bool(triton) and fewer and all(one["peak_bytes"] > 0 for one in compiled)


def _products(found: list[dict[str, Any]]) -> bool:
    """Products in more than one precision, with their kernels launched."""
    named = {product["precision"] for one in found for product in one["products"]}
    return len(named) > 1 and all(one["launches"] > 0 for one in found if one["name"])


def _launched(found: list[dict[str, Any]]) -> bool:
    """A kernel for each row, and each value read back, seen by the profiler."""
    read = [any("_local_scalar_dense" in each["name"] for each in one["operations"]) for one in found]
    return all(read) and all(one["launches"] >= _ROWS for one in found)


WANTED: dict[str, Callable[[list[dict[str, Any]]], bool]] = {
    "fusion/fusion-compiled": _fused,
    "compile/compile-gain-gpu": _fused,
    "mixed-precision/amp-tiny-cuda": _products,
    "recompiles/recompiles-item": _launched,
}


def looked(where: str) -> dict[str, Any]:
    """Inspect one example."""
    slug, _, wanted = where.partition("/")
    lesson = yaml.safe_load((LESSONS / slug / "lesson.yaml").read_text(encoding="utf-8"))
    example = next(each for each in lesson["examples"] if each["id"] == wanted)
    limits = ["--run-s", "90", "--memory-mib", str(max(example.get("memory_mib", 0), 12288))]
    command = [sys.executable, "-m", "sandbox_runner", "inspect", str(LESSONS / slug / example["file"])]
    began = time.perf_counter()
    said: dict[str, Any] = {"example": where, "right": False}
    try:
        ran = subprocess.run(
            [*command, "--device", "cuda", *limits, "--json"],
            capture_output=True,
            text=True,
            timeout=EACH_S,
            check=False,
        )
        result = json.loads(ran.stdout)
    except subprocess.TimeoutExpired:
        return said | {"ending": "no_json", "detail": f"nothing within {EACH_S} s"}
    except ValueError:
        return said | {"ending": "no_json", "detail": ran.stderr[-1500:]}
    said |= {"ending": result["ending"], "wall_s": round(time.perf_counter() - began, 1)}
    if result["ending"] != "ok":
        said |= {"fault": result["fault"], "reached": result["reached"], "stderr": result["stderr"]["head"][-1500:]}
    said["right"] = result["ending"] == "ok" and WANTED[where](result["insights"])
    return said | {"insights": [_short(one) for one in result["insights"]]}


def _short(one: dict[str, Any]) -> dict[str, Any]:
    """What of an insight an operator reads: figures whole, the first kernel's beginning."""
    kernels = [{"name": each["name"], "language": each["language"]} for each in one["kernels"]]
    first = {"source": one["kernels"][0]["source"][:1200]} if one["kernels"] else {}
    return {**one, "kernels": kernels, "guards": one["guards"][:3], **first}


def main() -> int:
    """Look into all of them, or those named."""
    wrong = []
    for where in sys.argv[1:] or WANTED:
        said = looked(where)
        print(json.dumps(said, ensure_ascii=False), flush=True)
        wrong += [] if said["right"] else [where]
    print(json.dumps({"summary": len(sys.argv[1:] or WANTED), "wrong": wrong}), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
