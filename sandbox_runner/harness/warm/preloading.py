"""What the parent imports before any job: numpy, torch, and, where asked, torch's compiler with a dummy compiled.

Law: one thread when it is done, no GPU touched, the environment as it was before. What is imported here is what the
learners' environment holds; no line of a learner's is run.
"""

import contextlib
import importlib
import os
import sys

SETTINGS = {"TORCHINDUCTOR_COMPILE_THREADS": "1", "PYTORCH_NVML_BASED_CUDA_CHECK": "1"}
_VECTORS = "TORCHINDUCTOR_VEC_ISA_OK"
_told: list = []  # type: ignore[type-arg]
"""What sets the threads of numpy's OpenBLAS, which read its variable when it was loaded."""


def preload(modules: list, *, compiler: bool, vectors: str = "") -> list[str]:  # type: ignore[type-arg]
    """Import what there is of `modules`; give the names.

    `vectors` is what was found once of the CPU's vector instructions, "1" or "0"; empty, torch tries them itself.
    """
    kept = dict(os.environ)
    os.environ.update(SETTINGS | ({_VECTORS: vectors} if vectors else {}))
    try:
        with contextlib.suppress(ImportError):
            importlib.import_module("tqdm").tqdm.monitor_interval = 0  # its monitor is a thread
        names = [name for name in modules if _imported(name)]
        _rehearse()
        _told.extend(_blas())
        torch = sys.modules.get("torch")
        if torch is not None:
            if compiler:
                compile_dummies()
                names.append("torch._inductor")
            if torch.cuda.is_initialized():
                message = "torch touched a GPU"
                raise RuntimeError(message)
        return names
    finally:
        for name in set(os.environ) - set(kept):
            del os.environ[name]
        os.environ.update(kept)


def compile_dummies() -> None:
    """Compile a chain, and a small network forwards and backwards, so that what compiling imports is there."""
    torch = importlib.import_module("torch")
    torch.compile(_chain)(torch.ones(4096))
    layers = (torch.nn.Linear(16, 16), torch.nn.GELU(), torch.nn.LayerNorm(16), torch.nn.Linear(16, 4))
    network = torch.nn.Sequential(*layers)
    torch.compile(network)(torch.ones(8, 16)).sum().backward()
    forget()


def vectors_hold() -> str:
    """Say "1" when the CPU's best vector instructions passed torch's own trial, which takes six runs of a compiler."""
    isa = importlib.import_module("torch._inductor.cpu_vec_isa")
    config = importlib.import_module("torch._inductor.config")
    found = str(isa.pick_vec_isa())
    for cached in (isa.valid_vec_isa_list, isa.pick_vec_isa):
        getattr(cached, "cache_clear", lambda: None)()
    with config.patch({"cpp.vec_isa_ok": True}):
        best = str(isa.pick_vec_isa())
    return "1" if found == best else ""


def forget() -> None:
    """Take back what compiling left behind: compiled code by its guards, counters, the seed that was drawn from."""
    torch = importlib.import_module("torch")
    torch._dynamo.reset()  # noqa: SLF001 - torch's own name for it
    utils = importlib.import_module("torch._dynamo.utils")
    for name in ("counters", "compilation_time_metrics", "_compilation_metrics"):
        with contextlib.suppress(AttributeError, TypeError):
            getattr(utils, name).clear()


def awake(threads: int) -> None:
    """In a child: chance and a key of its own, and as many threads as the job has; `random` sees to itself."""
    if (processes := sys.modules.get("multiprocessing.process")) is not None:
        processes.current_process().authkey = os.urandom(32)
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.seed()
    if threads != 1:
        for tell in _told:
            tell(threads)
    if (torch := sys.modules.get("torch")) is not None:
        torch.default_generator.seed()
        torch.set_num_threads(threads)


def _chain(x):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    return x.sin() * 2 + 1


def _imported(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def _rehearse() -> None:
    """Do once what nearly every program does, for what numpy and torch load only then."""
    if (numpy := sys.modules.get("numpy")) is not None:
        str(numpy.random.default_rng().random(3))
        numpy.random.seed()
        numpy.linalg.norm(numpy.ones(3))
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(1)
        layer = torch.nn.Linear(4, 4)
        optimizer = torch.optim.Adam(layer.parameters())
        layer(torch.rand(4, 4)).sum().backward()
        optimizer.step()
        str(torch.arange(3.0) @ torch.ones(3, 3))


def _blas() -> list:  # type: ignore[type-arg]
    """Find how many threads numpy's OpenBLAS is told; wheels of numpy carry it under these names."""
    import ctypes  # noqa: PLC0415 - loaded already by the parent

    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        paths = {line.split(None, 5)[5].strip() for line in maps if "openblas" in line}
    found = []
    for path in paths:
        library = ctypes.CDLL(path)
        for name in ("scipy_openblas_set_num_threads64_", "openblas_set_num_threads64_", "openblas_set_num_threads"):
            with contextlib.suppress(AttributeError):
                found.append(getattr(library, name))
                break
    return found
