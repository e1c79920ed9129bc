"""Runs every example of the lessons that names CUDA on this host's GPU, inside the walls, and prints one JSON a line.

    tests/gpu/examples.py [--several] [LESSON[/EXAMPLE]]...

A program for a GPU host, started by `run.sh`; needs PyYAML and what the runner needs. The last line counts the endings.
Each example goes through `python -m sandbox_runner run|time --device cuda`, within the limits and with as many GPUs as
its lesson names, as after a learner's tap. `--several`: only those that name several.
"""

import json
import math
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import yaml

LESSONS = Path(__file__).resolve().parents[2] / "content" / "lessons"
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
EACH_S = 150


def gpus() -> int:
    """Count this host's GPUs."""
    return len([node for node in Path("/dev").glob("nvidia*") if node.name[6:].isdigit()])


def examples() -> list[tuple[str, dict[str, Any]]]:
    """Give the lessons' examples that name CUDA, with their lesson."""
    found = []
    for path in sorted(LESSONS.glob("*/lesson.yaml")):
        lesson = yaml.safe_load(path.read_text(encoding="utf-8"))
        found += [(path.parent.name, one) for one in lesson["examples"] if "cuda" in one.get("devices", ["cpu"])]
    return found


def alike(printed: str, wanted: str, rel: float) -> bool:
    """Compare words exactly and numbers within `rel`."""
    left, right = ([line.rstrip() for line in text.strip().splitlines()] for text in (printed, wanted))
    if rel <= 0 or left == right:
        return left == right
    one, other = "\n".join(left), "\n".join(right)
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=False)
    same = all(math.isclose(float(a), float(b), rel_tol=rel) for a, b in pairs)
    return NUMBER.sub("#", one) == NUMBER.sub("#", other) and same


def tried(slug: str, example: dict[str, Any]) -> dict[str, Any]:
    """Run one example and say how it ended, what it measured, and whether it printed what its file says."""
    began = time.perf_counter()
    file = LESSONS / slug / example["file"]
    wanted_gpus = example.get("gpus", 1)
    count = max(gpus(), 1) if wanted_gpus == "all" else int(wanted_gpus)
    limits = [
        "--run-s",
        str(int(example.get("run_s", 10))),
        "--memory-mib",
        str(example.get("memory_mib", 2048) * count),
    ]
    device = ["--device", "cuda", "--gpus", str(count)]
    command = [sys.executable, "-m", "sandbox_runner", example["kind"], str(file), *device, *limits, "--json"]
    said: dict[str, Any] = {"lesson": slug, "example": example["id"], "kind": example["kind"], "gpus": count}
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=EACH_S, check=False)
        result = json.loads(ran.stdout)
    except subprocess.TimeoutExpired as fault:
        return said | {"ending": "no_json", "detail": str(fault)[:300]}
    except ValueError:
        return said | {"ending": "no_json", "detail": ran.stderr[-1500:]}
    said |= {"ending": result["ending"], "wall_s": round(time.perf_counter() - began, 1)}
    said |= {"start": result["start"], "device": result["machine"]["device"]}
    if result.get("fault"):
        said["fault"] = result["fault"]["last_line"][:300]
    if result["ending"] != "ok":
        said["stderr"] = (result["stderr"]["head"] + result["stderr"]["tail"])[-1500:]
        said |= {"notes": result["notes"], "reached": result["reached"]}
    if example["kind"] == "time":
        said["medians_ms"] = {one["name"]: round(one["median_ns"] / 1e6, 4) for one in result["variants"]}
        said["ratios"] = {
            f"{one['name']}/{one['against']}": [round(one["point"], 3), one["claim"]] for one in result["ratios"]
        }
        said["confirmed"] = result["confirmed"]
        said["flags"] = [flag["code"] for flag in result["flags"]]
    expected = example.get("expected")
    printed = result["stdout"]["head"] + result["stdout"]["tail"]
    if count > 1:
        said["printed"] = printed[:500]
    if expected and not expected.get("varies"):
        wanted = (LESSONS / slug / expected["file"]).read_text(encoding="utf-8")
        said["as_expected"] = alike(printed, wanted, float(expected.get("rel", 0)))
        if not said["as_expected"]:
            said["printed"] = printed[:500]
    return said


def main() -> None:
    """Run them all."""
    endings: dict[str, int] = {}
    wrong = 0
    several = "--several" in sys.argv
    only = set(sys.argv[1:]) - {"--several"}
    for slug, example in examples():
        if (only and not only & {slug, f"{slug}/{example['id']}"}) or (several and example.get("gpus", 1) == 1):
            continue
        said = tried(slug, example)
        print(json.dumps(said, ensure_ascii=False), flush=True)
        endings[said["ending"]] = endings.get(said["ending"], 0) + 1
        wrong += said.get("as_expected") is False
    print(json.dumps({"summary": endings, "not_as_expected": wrong}), flush=True)


if __name__ == "__main__":
    main()
