"""What the runner's host is, for results to say what their figures were measured on.

Law: read once at start, from the host; a learner's code has no say in it.
"""

import os
import platform
from pathlib import Path

from sandbox_runner.pinning import place_on
from sandbox_runner.protocol import Machine


def read_machine(*, python: str, numpy: str, torch: str, name: str = "") -> Machine:
    """Describe this host; versions are those of the learners' environment, threads what a measured job has."""
    usable = os.sched_getaffinity(0)
    cores = len(usable)
    return Machine(
        name=name or platform.node(),
        cpu=_cpu(),
        cores=cores,
        threads=place_on(usable).threads,
        device="",
        python=python,
        numpy=numpy,
        torch=torch,
        kernel=platform.release(),
    )


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
