"""Makes the table of models of the kept lines: `python tests/gpu/table.py h200/models*.jsonl [--arabic] > models.md`.

For each model, forward and training step: eager and compiled milliseconds in each type, how many times compiling makes
it faster, what compiling took, and what limits it. Of several files, a way is taken of the last that measured it both
eager and compiled. Law: nothing is computed here but ratios, each of one file; what is missing is a dash.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import geometric_mean
from typing import Any

PUBLISHED = (1.3, 3.0)
"""The gains of 30 % to 200 % that were published with PyTorch 2.0 over 163 open models."""
LIMITS = {
    "en": {
        "launch": "launches: the GPU waits for the processor between kernels",
        "memory": "memory: kernels that read and write more than they compute",
        "matmul": "products: the units that multiply are what is busy",
        "": "-",
    },
    "ar": {
        "launch": "الإطلاق: البطاقة تنتظر المعالج بين النوى",
        "memory": "الذاكرة: نوى تقرأ وتكتب أكثر مما تحسب",
        "matmul": "ضرب المصفوفات: وحدات الضرب هي المشغولة",
        "": "-",
    },
}
HEADS = {
    "en": ("model", "work", "type", "eager ms", "compiled ms", "times faster", "compile s", "peak MiB", "limited by"),
    "ar": ("النموذج", "العمل", "النوع", "مباشر", "مترجم", "أسرع", "ترجمة (ث)", "ذاكرة MiB", "ما يحدّه"),
}
WORDS = {
    "en": {"forward": "forward", "train": "training step"},
    "ar": {"forward": "استدلال", "train": "خطوة تدريب"},
}

Way = tuple[str, str, str]


def read_all(paths: list[Path]) -> tuple[dict[Way, dict[bool, dict[str, Any]]], list[dict[str, Any]]]:
    """Read several files: a way is taken whole of one of them, the last that measured it both ways."""
    found: dict[Way, dict[bool, dict[str, Any]]] = {}
    others = []
    for path in paths:
        ways, rest = read(path)
        found |= {way: pair for way, pair in ways.items() if way not in found or gain(pair)}
        others += rest
    return found, others


def read(path: Path) -> tuple[dict[Way, dict[bool, dict[str, Any]]], list[dict[str, Any]]]:
    """Read what was measured, by way and by whether it was compiled, and the other lines."""
    found: dict[Way, dict[bool, dict[str, Any]]] = {}
    others = []
    for text in path.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        if "model" in line:
            found.setdefault((line["model"], line["work"], line["dtype"]), {})[line["compiled"]] = line
        else:
            others.append(line)
    return found, others


def gain(pair: dict[bool, dict[str, Any]]) -> float:
    """Say how many times as fast compiled code was; 0 where either was not measured."""
    eager, compiled = (pair.get(which, {}).get("median_ms") for which in (False, True))
    return eager / compiled if eager and compiled else 0.0


def rows(found: dict[Way, dict[bool, dict[str, Any]]], tongue: str) -> Iterator[tuple[str, ...]]:
    """Give a row for each way."""
    for (model, work, kind), pair in sorted(found.items(), key=lambda item: (item[0][1], item[0][0], item[0][2])):
        eager, compiled = pair.get(False, {}), pair.get(True, {})
        times = gain(pair)
        limit = LIMITS[tongue].get(str(eager.get("limit", "")), "-")
        after = compiled.get("limit", "")
        then = f" → {LIMITS[tongue][after].partition(':')[0]}" if after and after != eager.get("limit") else ""
        milliseconds = [_figure(one.get("median_ms")) for one in (eager, compiled)]
        rest = (_figure(compiled.get("cold_s")), str(eager.get("peak_mib", "-")), limit + then)
        yield (model, WORDS[tongue][work], f"`{kind}`", *milliseconds, f"{times:.2f}" if times else "-", *rest)


def _figure(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, int | float) else "-"


def summary(found: dict[Way, dict[bool, dict[str, Any]]], others: list[dict[str, Any]]) -> Iterator[str]:
    """Sum up: on what, how many, and the gains beside those that were published."""
    gpu = next((line["gpu"] for line in others if line.get("gpu")), "no GPU")
    models = {model for model, _, _ in found}
    failed = [line for pair in found.values() for line in pair.values() if "error" in line]
    yield f"{gpu}: {len(models)} architectures, {len(found)} ways, {len(failed)} measurements that failed."
    gains = [times for times in map(gain, found.values()) if times]
    if gains:
        within = sum(PUBLISHED[0] <= times <= PUBLISHED[1] for times in gains)
        yield (
            f"Compiled against eager: {min(gains):.2f} to {max(gains):.2f} times as fast, {geometric_mean(gains):.2f} "
            f"in the geometric mean of {len(gains)}; {within} of them within the 1.3 to 3 times that were published."
        )
    for line in failed:
        yield f"Failed: {line['model']} {line['work']} {line['dtype']} compiled={line['compiled']}: {line['error']}"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--arabic", action="store_true", help="heads and sentences for the lesson")
    call = parser.parse_args()
    found, others = read_all(call.files)
    tongue = "ar" if call.arabic else "en"
    print("\n".join(summary(found, others)) + "\n")
    print("| " + " | ".join(HEADS[tongue]) + " |\n|" + "---|" * len(HEADS[tongue]))
    for row in rows(found, tongue):
        print("| " + " | ".join(row) + " |")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
