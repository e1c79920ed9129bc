"""What the parent imports before any job: numpy, torch, and, where asked, torch's compiler with a dummy compiled.

Law: no thread of ours when it is done, no GPU touched, the environment as it was before. What is imported here is what
the learners' environment holds; no line of a learner's is run.
"""

import contextlib
import importlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from .. import threads as computing  # noqa: TID252 - the harness is a package of another name inside

SETTINGS = {"TORCHINDUCTOR_COMPILE_THREADS": "1", "PYTORCH_NVML_BASED_CUDA_CHECK": "1"}
_VECTORS = "TORCHINDUCTOR_VEC_ISA_OK"
_PLAIN, _IMPORTED = 1, 2
_COMPILING = ("torch._dynamo", "torch._inductor.compile_fx", "torch._inductor.codegen.triton", "triton")
_KNOWS_DEVICES = (
    "torch.utils._triton", "torch._inductor.utils", "torch._inductor.codecache", "torch._inductor.runtime",
    "torch._dynamo.device_interface",
)  # fmt: skip
_OF_NUMPY = re.compile(rb"numpy|scipy|sklearn|skimage|pandas|matplotlib|importlib|__import__|\bexec\b|\beval\b")
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


def preload_for_gpus(modules: list, depth: int) -> list[str]:  # type: ignore[type-arg]
    """Import the same for children that get a GPU, so that each makes a context of its own; give the names.

    Whatever asks for a GPU meanwhile is told that there is one and may not use it: what CUDA is asked once in a process
    it does not forget, and no fork of that could use it (autograd's first pass backwards asks). `depth` 1 leaves
    torch's compiler out, 2 imports it, 3 has it look through a function too, for the processor.
    """
    kept = dict(os.environ)
    os.environ.update(SETTINGS)
    try:
        with contextlib.suppress(ImportError):
            importlib.import_module("tqdm").tqdm.monitor_interval = 0
        names = [name for name in modules if _imported(name)]
        torch = sys.modules.get("torch")
        if torch is not None:
            with _untouched(torch, seen=1):
                _rehearse(backward=False)
                _told.extend(_blas())
                if depth > _PLAIN:
                    names += [name for name in _COMPILING if _imported_at_all(name)]
            if depth > _IMPORTED:
                with _untouched(torch, seen=0):
                    torch.compile(_chain, backend="eager")(torch.ones(8))
                    forget()
                _forget_devices()
            if torch.cuda.is_initialized():
                message = "torch touched a GPU"
                raise RuntimeError(message)
        return names
    finally:
        for name in set(os.environ) - set(kept):
            del os.environ[name]
        os.environ.update(kept)


@contextlib.contextmanager
def _untouched(torch: Any, *, seen: int) -> Iterator[None]:  # noqa: ANN401 - a module of the learners' environment
    """Let torch believe in so many GPUs, and refuse every use of one."""

    def refuse(*_: object) -> None:
        message = "the parent has no GPU"
        raise RuntimeError(message)

    count: Callable[[], int] = lambda: seen  # noqa: E731 - stands in for a function
    stands = (
        (torch._C, "_cuda_getDeviceCount", count),  # noqa: SLF001 - torch's own names for them
        (torch._C, "_cuda_init", refuse),  # noqa: SLF001
        (torch._C, "_ensureCUDADeviceGuardSet", lambda: None),  # noqa: SLF001 - counts GPUs past all the others
        (torch.cuda, "_device_count_nvml", count),
        (torch.cuda, "_lazy_init", refuse),
    )
    real = [(owner, name, getattr(owner, name)) for owner, name, _ in stands if hasattr(owner, name)]
    try:
        for owner, name, stand in stands:
            if hasattr(owner, name):
                setattr(owner, name, stand)
        yield
    finally:
        for owner, name, was in real:
            setattr(owner, name, was)


def _forget_devices() -> None:
    """Let torch's compiler look again for what it thinks there is of GPUs."""
    for name, module in list(sys.modules.items()):
        if name.startswith(_KNOWS_DEVICES):
            for value in list(vars(module).values()):
                with contextlib.suppress(Exception):
                    getattr(value, "cache_clear", lambda: None)()
    interfaces: Any = sys.modules.get("torch._dynamo.device_interface")
    if hasattr(interfaces, "_device_initialized"):
        interfaces._device_initialized = False  # noqa: SLF001 - torch's own name for it


def rehearse(*, on_gpu: bool) -> Iterator[str]:
    """In a child that waits: do what is slow the first time, naming each step when it is done, and forget it all.

    Raises:
        RuntimeError: the GPU gave a wrong result.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        return
    kept = dict(os.environ)
    try:
        if on_gpu:
            yield from _rehearse_on_gpu(torch)
        else:
            str(torch.ones(3).sum().item())
            yield "processor"
    finally:
        for name in set(os.environ) - set(kept):
            del os.environ[name]
        os.environ.update(kept)


def _rehearse_on_gpu(torch: Any) -> Iterator[str]:  # noqa: ANN401 - a module of the learners' environment
    try:
        torch.ones(8, device="cuda").cpu()
        yield "context"
        left = torch.ones(256, 256, device="cuda")
        if float((left @ left).sum()) != 256.0**3:
            message = "a product on the GPU was wrong"
            raise RuntimeError(message)
        yield "product"
        if "torch._inductor.compile_fx" in sys.modules:
            if float(torch.compile(_chain)(torch.zeros(4096, device="cuda")).sum()) != 4096.0:  # noqa: PLR2004 - of ones
                message = "a compiled kernel on the GPU was wrong"
                raise RuntimeError(message)
            forget()
            yield "kernel"
    finally:
        left = None
        with contextlib.suppress(Exception):
            torch._C._cuda_clearCublasWorkspaces()  # noqa: SLF001 - torch's own name for it
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            torch.cuda.reset_accumulated_memory_stats()
        _remove_compiled()


def _remove_compiled() -> None:
    """Remove what compiling left in the job's folders, but for links to what we keep."""
    for top in (f"/tmp/torchinductor_{os.environ.get('USER', 'learner')}", "/tmp/.triton"):  # noqa: S108 - inside
        for folder, folders, files in os.walk(top, topdown=False):
            for name in (*files, *folders):
                path = os.path.join(folder, name)
                with contextlib.suppress(OSError):
                    if os.path.isdir(path):
                        os.rmdir(path)
                    elif not os.path.islink(path):
                        os.unlink(path)


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


def awake(threads: int, code: bytes) -> None:
    """In a child: chance and a key of its own, and as many threads as the job has; `random` sees to itself.

    Threads of numpy's OpenBLAS look for work as soon as they are made, some 50 ms on every core, and all of it counts
    as the job's: they are made only where the code names what computes with numpy, or imports by a name of its making.
    """
    if (processes := sys.modules.get("multiprocessing.process")) is not None:
        processes.current_process().authkey = os.urandom(32)
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.seed()
    if threads != 1 and _OF_NUMPY.search(code):
        for tell in _told:
            tell(threads)
    if (torch := sys.modules.get("torch")) is not None:
        torch.default_generator.seed()
        computing.tell(torch, threads)


def _chain(x):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Be a graph that no example has: what is kept of theirs must not spare anyone the compiling that wakes all up."""
    return x.sin() * 2.0009765625 + 1


def _imported(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def _imported_at_all(name: str) -> bool:
    with contextlib.suppress(Exception):  # what of torch's compiler does not fit this host is only not there
        return _imported(name)
    return False


def _rehearse(*, backward: bool = True) -> None:
    """Do once what nearly every program does, for what numpy and torch load only then."""
    if (numpy := sys.modules.get("numpy")) is not None:
        str(numpy.random.default_rng().random(3))
        numpy.random.seed()
        numpy.linalg.norm(numpy.ones(3))
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(1)
        layer = torch.nn.Linear(4, 4)
        answer = layer(torch.rand(4, 4)).sum()
        if backward:
            optimizer = torch.optim.Adam(layer.parameters())
            answer.backward()
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
