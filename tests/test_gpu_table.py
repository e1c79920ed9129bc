"""The table of models as it is made of kept lines: what was not measured is a dash, what failed is named."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

TIMED = {"model": "BERT-base", "work": "train", "dtype": "tf32", "peak_mib": 3000}
LINES = (
    {"ceilings": {"tf32": 4e14}, "gpu": "NVIDIA H200"},
    {**TIMED, "compiled": False, "median_ms": 33.0, "limit": "launch"},
    {**TIMED, "compiled": True, "median_ms": 22.0, "limit": "matmul", "cold_s": 40.1},
    {"model": "GPT-2", "work": "forward", "dtype": "bfloat16", "compiled": False, "error": "OutOfMemoryError: x"},
)


@pytest.fixture(scope="module")
def table() -> ModuleType:
    """The program, which is no module of the project."""
    path = Path(__file__).parent / "gpu" / "table.py"
    spec = importlib.util.spec_from_file_location("gpu_table", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "models.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in LINES) + "\n")
    return path


def test_a_row_holds_both_times_their_ratio_and_what_limits(table: ModuleType, kept: Path) -> None:
    found, _ = table.read(kept)
    rows = {row[0]: row for row in table.rows(found, "en")}
    assert rows["BERT-base"][1:8] == ("training step", "`tf32`", "33", "22", "1.50", "40.1", "3000")
    assert rows["BERT-base"][8].startswith("launches: ")
    assert rows["BERT-base"][8].endswith(" → products")
    assert set(rows["GPT-2"][3:]) == {"-"}


def test_what_failed_is_named_and_gains_stand_beside_those_published(table: ModuleType, kept: Path) -> None:
    said = list(table.summary(*table.read(kept)))
    assert said[0] == "NVIDIA H200: 2 architectures, 2 ways, 1 measurements that failed."
    assert "1 of them within the 1.3 to 3 times that were published" in said[1]
    assert said[2] == "Failed: GPT-2 forward bfloat16 compiled=False: OutOfMemoryError: x"


def test_the_table_for_the_lesson_is_in_arabic(table: ModuleType, kept: Path) -> None:
    (row, *_) = [row for row in table.rows(table.read(kept)[0], "ar") if row[0] == "BERT-base"]
    assert (row[1], row[8].partition(":")[0]) == ("خطوة تدريب", "الإطلاق")


def test_a_way_measured_again_is_taken_whole_of_the_later_file(table: ModuleType, kept: Path) -> None:
    pair = [
        {"model": "GPT-2", "work": "forward", "dtype": "bfloat16", "compiled": compiled, "median_ms": median}
        for compiled, median in ((False, 6.0), (True, 3.0))
    ]
    half = [{"model": "BERT-base", "work": "train", "dtype": "tf32", "compiled": False, "median_ms": 1.0}]
    later = kept.with_name("models_second.jsonl")
    later.write_text("\n".join(json.dumps(line) for line in [*pair, *half]) + "\n")
    rows = {row[0]: row for row in table.rows(table.read_all([kept, later])[0], "en")}
    assert rows["GPT-2"][3:6] == ("6", "3", "2.00")
    assert rows["BERT-base"][3:6] == ("33", "22", "1.50")
