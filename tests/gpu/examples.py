"""Runs every example of the lessons that names CUDA on this host's GPU, inside the walls, and prints one JSON a line.

    tests/gpu/examples.py [LESSON]...

A program for a GPU host, started by `run.sh`; needs PyYAML and what the runner needs. The last line counts the endings.
Each example goes through `python -m sandbox_runner run|time --device cuda`, as a learner's tap would.
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
    command = [sys.executable, "-m", "sandbox_runner", example["kind"], str(file), "--device", "cuda", "--json"]
    said: dict[str, Any] = {"lesson": slug, "example": example["id"], "kind": example["kind"]}
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=EACH_S, check=False)
        result = json.loads(ran.stdout)
    except (subprocess.TimeoutExpired, ValueError) as fault:
        return said | {"ending": "no_json", "detail": str(fault)[:300]}
    said |= {"ending": result["ending"], "wall_s": round(time.perf_counter() - began, 1)}
    if result.get("fault"):
        said["fault"] = result["fault"]["last_line"][:300]
    if example["kind"] == "time":
        said["medians_ms"] = {one["name"]: round(one["median_ns"] / 1e6, 4) for one in result["variants"]}
        said["ratios"] = {
            f"{one['name']}/{one['against']}": [round(one["point"], 3), one["claim"]] for one in result["ratios"]
        }
        said["confirmed"] = result["confirmed"]
        said["flags"] = [flag["code"] for flag in result["flags"]]
    expected = example.get("expected")
    if expected and not expected.get("varies"):
        printed = result["stdout"]["head"] + result["stdout"]["tail"]
        wanted = (LESSONS / slug / expected["file"]).read_text(encoding="utf-8")
        said["as_expected"] = alike(printed, wanted, float(expected.get("rel", 0)))
        if not said["as_expected"]:
            said["printed"] = printed[:500]
    return said


def main() -> None:
    """Run them all."""
    endings: dict[str, int] = {}
    wrong = 0
    only = set(sys.argv[1:])
    for slug, example in examples():
        if only and slug not in only:
            continue
        said = tried(slug, example)
        print(json.dumps(said, ensure_ascii=False), flush=True)
        endings[said["ending"]] = endings.get(said["ending"], 0) + 1
        wrong += said.get("as_expected") is False
    print(json.dumps({"summary": endings, "not_as_expected": wrong}), flush=True)


if __name__ == "__main__":
    main()
