"""Every name of torch, numpy and transformers that the lessons' texts mention exists in the learners' environment."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from content import drafts, loader, strictyaml

pytestmark = pytest.mark.sandbox

SPAN = re.compile(r"`([^`\n]+)`")
NAME = re.compile(r"(?<![\w.])(?:torch|np|F|nn|time|math)(?:\.[A-Za-z_]\w*)+")

RESOLVED = """
import importlib, json, math, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
known = {"torch": torch, "np": np, "F": F, "nn": nn, "time": time, "math": math}
def there(name):
    first, *parts = name.split(".")
    found = known[first]
    for end, part in enumerate(parts, 2):
        if not hasattr(found, part):
            try:
                importlib.import_module(".".join(name.split(".")[:end]))
            except ImportError:
                return False
        found = getattr(found, part)
    return True
print(json.dumps([name for name in json.load(sys.stdin) if not there(name)]))
"""


def test_every_name_in_the_texts_exists_today(learners_python: Path) -> None:
    texts: list[str] = []
    for file in sorted(loader.HERE.glob("lessons/*/lesson.yaml")):
        read = strictyaml.read(file.read_bytes(), file.name)
        texts += [text for _, text in drafts.strings(read.data)]
    names = sorted({name for text in texts for span in SPAN.findall(text) for name in NAME.findall(span)})
    assert len(names) > 60
    ran = subprocess.run(
        [str(learners_python), "-I", "-B", "-c", RESOLVED],
        input=json.dumps(names),
        capture_output=True,
        text=True,
        check=True,
        timeout=110,
    )
    assert json.loads(ran.stdout) == []
