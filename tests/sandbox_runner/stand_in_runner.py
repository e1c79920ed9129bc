"""The runner's commands with a worker that runs nothing: a program for the tests to start."""

import sys

from sandbox_runner.__main__ import main
from sandbox_runner.testing import MISSING, StandInWorker, assemble_stand_in

if __name__ == "__main__":
    words = sys.argv[1:]
    walls = (MISSING,) if "--a-wall-is-missing" in words else ()
    sys.exit(
        main([word for word in words if word != "--a-wall-is-missing"], assemble_stand_in(StandInWorker(), *walls))
    )
