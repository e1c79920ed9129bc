"""The program that makes the table of real models on a GPU host, tried on the processor with tiny models."""

import json
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[1] / "gpu" / "models.py"


def test_the_table_has_at_least_twelve_architectures() -> None:
    ran = subprocess.run([sys.executable, PROGRAM, "--list"], capture_output=True, text=True, check=True)
    assert len(set(ran.stdout.split())) >= 12


def test_an_unknown_model_is_said_before_anything_is_loaded() -> None:
    ran = subprocess.run([sys.executable, PROGRAM, "--models", "LeNet"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "not known: LeNet" in ran.stderr


@pytest.mark.sandbox
def test_every_way_is_a_line_and_a_missing_library_is_said_by_name(learners_python: Path) -> None:
    options = ["--small", "--no-compile", "--seconds", "90", "--each", "0.01"]
    models = ["--models", "DistilBERT,ResNeXt-101-32x8d"]
    ran = subprocess.run(
        [str(learners_python), "-I", "-B", str(PROGRAM), *options, *models],
        capture_output=True,
        text=True,
        check=True,
        timeout=110,
    )
    head, *lines = map(json.loads, ran.stdout.splitlines())
    assert head == {"ceilings": {}, "gpu": ""}
    ways = {
        name: sorted((line["work"], line["dtype"]) for line in lines if line["model"] == name)
        for name in models[1].split(",")
    }
    assert ways["DistilBERT"] == sorted(product(["forward", "train"], ["tf32", "bfloat16"]))
    assert ways["ResNeXt-101-32x8d"] == sorted(product(["forward", "train"], ["tf32", "bfloat16", "float16"]))
    for line in lines:
        if line["model"] == "DistilBERT":
            assert line["median_ms"] > 0
        else:
            assert line["error"] == "LookupError: timm is missing"
