"""How many threads the libraries of the learner's process compute with, and how those are told that read it earlier."""

import contextlib
import ctypes
import os
from typing import Any

NAMES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""Where every library that computes reads it as it is loaded; `policy.json` names these too."""


def tell(torch: Any, threads: int) -> None:  # noqa: ANN401 - a module that this interpreter may not have
    """Tell a torch that is loaded already; what it computes then, and how, is as if it had been loaded after.

    `set_num_threads` has MKL use all threads for however little: a `tanh` of a hundred numbers then keeps every core
    busy, and takes milliseconds where one of them has other work. MKL chooses by itself where nobody calls it.
    """
    torch.set_num_threads(threads)
    with contextlib.suppress(OSError, AttributeError):  # a torch without MKL
        library = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
        ctypes.CDLL(library).MKL_Set_Dynamic(1)
