"""That what a job's launcher leaves behind falls to the runner, and is reaped there."""

import subprocess
import sys

PROGRAM = """
import os, time
from pathlib import Path
from sandbox_runner.sandbox.reaping import Reaper

def orphan():
    parent = os.fork()
    if parent == 0:
        if os.fork() == 0:
            time.sleep(0.3)
            os._exit(0)
        os._exit(0)
    os.waitpid(parent, 0)

reaper = Reaper()
reaper.adopt()
orphan()
time.sleep(0.6)
print("first look", reaper.reap())
time.sleep(1.2)
mine = os.fork() or os._exit(7)
time.sleep(0.2)
print("second look", reaper.reap())
print("mine", os.waitstatus_to_exitcode(os.waitpid(mine, 0)[1]))
print("left", [text for task in Path("/proc/self/task").iterdir() for text in (task / "children").read_text().split()])
"""


def test_an_orphan_is_reaped_and_a_child_that_somebody_waits_for_is_not() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines() == ["first look 0", "second look 1", "mine 7", "left []"]
