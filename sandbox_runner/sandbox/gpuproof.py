"""A kernel of ours that proves the GPU inside the walls: run there as a learner's code is, its result known before.

Law: whole numbers small enough for every precision in between, so that only the right result is right.
"""

import json
from dataclasses import dataclass

from sandbox_runner.protocol import Ending, Result

EACH_GPU = "cuda_gpu"
"""Where there are several GPUs, the name of one's own wall, before its number: a kernel was right on it."""
PROOF = """
import json
import os
import torch
found = sorted(name for name in os.listdir("/dev") if name.startswith("nvidia"))
said = {"count": torch.cuda.device_count(), "nodes": found, "right": False, "name": "", "free": 0, "total": 0}
if torch.cuda.is_available():
    left = (torch.arange(512 * 512) % 7 - 3).reshape(512, 512).float()
    device = torch.device("cuda")
    said["right"] = bool(torch.equal((left.to(device) @ left.to(device)).cpu(), left @ left))
    said["name"] = torch.cuda.get_device_name(0)
    said["free"], said["total"] = torch.cuda.mem_get_info()
    said["cuda"] = torch.version.cuda or ""
print(json.dumps(said))
"""


@dataclass(frozen=True, slots=True)
class Proven:
    """What the kernel's program saw inside. Sizes in bytes."""

    count: int
    name: str
    total: int
    cuda: str


def proof_fault(result: Result) -> str:
    """Say what was wrong with the proof, an operator's text; nothing when the kernel gave the right result."""
    if result.ending is not Ending.OK:
        last = result.fault.last_line if result.fault is not None else result.stderr.head[-300:].strip()
        details = [str(note.values["detail"]) for note in result.notes if "detail" in note.values]
        return " ".join([f"the kernel of the proof ended as {result.ending.value}:", *details, last]).strip()[:500]
    said = _said(result)
    if said is None:
        return "the kernel of the proof said nothing that fits"
    if not said.get("count"):
        return f"the learners' torch sees no GPU inside the walls (nodes: {said.get('nodes')})"[:500]
    return "" if said.get("right") is True else "a kernel gave a wrong result"


def proven(result: Result) -> Proven | None:
    """Read what was proven; None where nothing was."""
    said = _said(result)
    if said is None or proof_fault(result):
        return None
    count, total = said.get("count"), said.get("total")
    if type(count) is not int or type(total) is not int:
        return None
    return Proven(count, str(said.get("name", ""))[:80], total, str(said.get("cuda", ""))[:20])


def _said(result: Result) -> dict[str, object] | None:
    try:
        said = json.loads(result.stdout.head)
    except ValueError:
        return None
    return said if isinstance(said, dict) else None
