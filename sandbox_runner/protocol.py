"""What a bot and a runner say to each other: jobs, events, results; standard library only.

Law: this module words nothing. A learner's sentence is chosen by the engine from the codes here.
Times are nanoseconds in fields ending `_ns`, milliseconds in `_ms`, seconds in `_s`; sizes are bytes.
"""

from dataclasses import dataclass, field
from enum import StrEnum

PROTOCOL_VERSION = 1


class JobKind(StrEnum):
    """What is to be done with the source."""

    RUN = "run"
    TIME = "time"
    EXERCISE = "exercise"
    INSPECT = "inspect"


class Device(StrEnum):
    """Where the learner's code runs."""

    CPU = "cpu"
    CUDA = "cuda"
    BOTH = "both"


class Budget(StrEnum):
    """How long a timing may measure: 0.3, 1.0 or 5 seconds."""

    QUICK = "quick"
    DEFAULT = "default"
    THOROUGH = "thorough"


class Ending(StrEnum):
    """How a run ended, one name each."""

    OK = "ok"
    WRONG_RESULT = "wrong_result"
    NONFINITE = "nonfinite"
    SUSPICIOUS_TIMING = "suspicious_timing"
    SYNTAX_ERROR = "syntax_error"
    PY_ERROR = "py_error"
    NO_RESULT = "no_result"
    EXIT_NONZERO = "exit_nonzero"
    KILLED_BY_OWN_SIGNAL = "killed_by_own_signal"
    CRASH = "crash"
    TIMEOUT_IMPORT = "timeout_import"
    TIMEOUT_COMPILE = "timeout_compile"
    TIMEOUT_RUN = "timeout_run"
    TIMEOUT_WALL = "timeout_wall"
    CPU_LIMIT = "cpu_limit"
    OOM_HOST = "oom_host"
    OOM_GPU = "oom_gpu"
    GPU_FAULT = "gpu_fault"
    GPU_HANG = "gpu_hang"
    TAMPERED = "tampered"
    PROC_LIMIT = "proc_limit"
    FILE_LIMIT = "file_limit"
    OUTPUT_LIMIT = "output_limit"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"
    QUEUE_FULL = "queue_full"
    RATE_LIMITED = "rate_limited"
    TOO_LARGE = "too_large"
    TOO_FEW_GPUS = "too_few_gpus"
    INFRA_ERROR = "infra_error"


class Claim(StrEnum):
    """What a ratio's interval allows to be said."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    UNCLEAR = "unclear"


class Phase(StrEnum):
    """What a run is doing now; budgets are per phase."""

    START = "start"
    IMPORT = "import"
    RUN = "run"
    COMPILE = "compile"
    WARMUP = "warmup"
    CHECK = "check"
    MEASURE = "measure"
    COLLECT = "collect"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a job may use. The defaults are the table's of the CPU; a course example states its own."""

    start_s: float = 10.0
    import_s: float = 60.0
    run_s: float = 10.0
    compile_s: float = 60.0
    warmup_s: float = 20.0
    check_s: float = 20.0
    measure_s: float = 20.0
    cpu_s: float = 600.0
    memory_bytes: int = 2 << 30
    processes: int = 128
    disk_bytes: int = 256 << 20
    inodes: int = 10_000
    output_kept_bytes: int = 64 << 10
    output_ceiling_bytes: int = 16 << 20
    files: int = 16
    file_bytes: int = 4 << 20


CUDA_MEMORY_BYTES = 12 << 30
"""Host memory of a job on a GPU where it states none: a context, pinned buffers and libraries take more."""


def limits_for(device: Device, gpus: int = 1) -> Limits:
    """Give the limits of a job that states none of its own; each further GPU has a process and what that needs."""
    if device is Device.CPU:
        return Limits()
    plain = Limits()
    return Limits(
        memory_bytes=CUDA_MEMORY_BYTES * gpus,
        processes=plain.processes * gpus,
        disk_bytes=plain.disk_bytes * gpus,
    )


@dataclass(frozen=True, slots=True)
class Check:
    """Inputs that an answer is compared on, `make(rng(seed), n)`, and the relative error allowed."""

    n: int
    seed: int
    rel: float


@dataclass(frozen=True, slots=True)
class Exercise:
    """What a submission is held against: both sources define `make(rng, n)` and `solve(**made)`.

    The starter's `make` serves for all. The reference is for the runner alone: it never comes near the learner's code.
    """

    starter: str
    reference: str
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """A snippet to be run, with limits. `learner` is a hash; `id` doubles as the idempotency key.

    `exercise` belongs to the kind of that name, whose `source` is the learner's submission. `gpus` is how many GPUs a
    job for them gets, all at once or none; a job for the processor leaves it at 1. `machine` names the one whose
    earlier figures this job's will be compared with: of several runners its own is waited for while it lives.
    """

    id: str
    kind: JobKind
    source: str
    learner: str
    device: Device = Device.CPU
    budget: Budget = Budget.DEFAULT
    limits: Limits = field(default_factory=Limits)
    filename: str = "code.py"
    exercise: Exercise | None = None
    gpus: int = 1
    machine: str = ""


@dataclass(frozen=True, slots=True)
class Stream:
    """One output stream: its head and tail as text for display, and how many bytes came and were dropped."""

    head: str = ""
    tail: str = ""
    bytes: int = 0
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class Fault:
    """The learner's error: the exception's name, its last line, and the line in the learner's own numbering."""

    name: str
    last_line: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class OutFile:
    """A file or figure that came back; `data` is base64, `name` a bare ASCII-safe file name."""

    name: str
    media: str
    size: int
    data: str


@dataclass(frozen=True, slots=True)
class Note:
    """A remark as a code with its figures: `left_processes`, `did_not_exit`, `files_skipped`, `no_network`, ..."""

    code: str
    values: dict[str, str | int | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reached:
    """Which limit was reached: its name in `Limits`, its value, and the unit (`s`, `bytes`, `count`)."""

    name: str
    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class Variant:
    """One variant's time. `n` counts blocks; `first_call_ns` (compile, caches) is kept apart.

    `compile_ns` is what compiling took of it, 0 where nothing was compiled. `precision` is the one that really ran and
    `error` the relative error against float64 that shows it; empty and 0 where it could not be told. Of a call's
    `flops` (in products of matrices) and `bytes` (inputs and outputs once), `bound` says which keeps it (`compute` or
    `memory`) and `reached` what share of what this machine can do it came to; 0 and empty where that is not known.
    `peak_flops` and `peak_bytes` are what it can do a second, in the products' precision and in copying; 0: not known.
    `bound` may be `cache` too: the data came faster than memory can give it, and `reached` is the share of computing.
    `gpu_ns` is what the GPU itself worked on a call, by its own events, as the learner's process says; 0: not known.
    """

    name: str
    median_ns: float
    min_ns: float
    ci99_ns: tuple[float, float]
    n: int
    block: int
    first_call_ns: float
    compile_ns: float = 0.0
    precision: str = ""
    error: float = 0.0
    flops: float = 0.0
    bytes: float = 0.0
    bound: str = ""
    reached: float = 0.0
    peak_flops: float = 0.0
    peak_bytes: float = 0.0
    gpu_ns: float = 0.0


@dataclass(frozen=True, slots=True)
class Ratio:
    """Time of `against` divided by time of `name`: more than 1 means that `name` is faster.

    `break_even` is the number of calls after which compiling `name` has paid for itself; 0 where that is no question.
    """

    name: str
    against: str
    point: float
    ci99: tuple[float, float]
    claim: Claim
    n: int
    few: bool = False
    break_even: float = 0.0


@dataclass(frozen=True, slots=True)
class Machine:
    """What the figures were measured on."""

    name: str = ""
    cpu: str = ""
    cores: int = 0
    threads: int = 0
    device: str = ""
    python: str = ""
    numpy: str = ""
    torch: str = ""
    kernel: str = ""


@dataclass(frozen=True, slots=True)
class Flag:
    """Something that a learner should know about these figures, as a code with its figures."""

    code: str
    values: dict[str, str | int | float] = field(default_factory=dict)
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of one check: `why` is a code where it failed (`differ`, `nonfinite`, `shape`, `type`, `raised`).

    `error` is the relative error seen, 0 where there is none to tell. The last check of a result may be one more than
    the job's, on a seed that nobody knew.
    """

    n: int
    passed: bool
    why: str = ""
    error: float = 0.0


@dataclass(frozen=True, slots=True)
class Break:
    """Where torch's compiler split a function: its own reason, and the learner's line."""

    reason: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Recompile:
    """A function compiled once more: which, the guard that failed in torch's words, and the learner's line."""

    function: str
    why: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel that the compiler wrote: `language` is `cpp` or `triton`; `source` begins with what computes."""

    name: str
    language: str
    source: str


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation by the profiler: how often it ran, and its share of the time of the call that was watched."""

    name: str
    calls: int
    share: float


@dataclass(frozen=True, slots=True)
class Product:
    """A product of matrices: its operation, the precision of what is multiplied, its shapes, and how often."""

    op: str
    precision: str
    shape: str
    count: int


@dataclass(frozen=True, slots=True)
class Insight:
    """What went on inside one variant's calls; `name` is empty for the set-up.

    `graphs` were compiled; `nodes` is the number of computing steps before fusion, `kernels` what was written for
    them, `libraries` what is called ready-made. `eager_kernels` counts the operations of the same call as written,
    `launches` the kernels that a GPU ran. `peak_bytes` is new memory at the peak of one call. Every figure is the
    learner's process's own claim, none is a timing to compare by.
    """

    name: str = ""
    first_ns: float = 0.0
    again_ns: float = 0.0
    graphs: int = 0
    breaks: tuple[Break, ...] = ()
    recompiles: tuple[Recompile, ...] = ()
    guards: tuple[str, ...] = ()
    nodes: int = 0
    kernels: tuple[Kernel, ...] = ()
    libraries: tuple[str, ...] = ()
    eager_kernels: int = 0
    launches: int = 0
    peak_bytes: int = 0
    operations: tuple[Operation, ...] = ()
    products: tuple[Product, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a job. Every figure in it was bounded by clocks outside the sandbox.

    Of an exercise, `checks` are its checks in order, the ratios are those of `submission` and `reference` against
    `starter`, and `share` is the reference's time divided by the submission's (0: not measured). `start` is `warm`,
    or `cold:` and why as a code (`gpu`, `no_parent`, `parent_died`, `wall_refused`, `wall_missing`,
    `environment_changed`, `parent_failed`); it is empty where runs only start cold.
    """

    job_id: str
    kind: JobKind
    ending: Ending
    device: Device = Device.CPU
    stdout: Stream = field(default_factory=Stream)
    stderr: Stream = field(default_factory=Stream)
    value: str = ""
    fault: Fault | None = None
    reached: Reached | None = None
    files: tuple[OutFile, ...] = ()
    notes: tuple[Note, ...] = ()
    variants: tuple[Variant, ...] = ()
    ratios: tuple[Ratio, ...] = ()
    checked: str = ""
    confirmed: bool = False
    noise: float = 0.0
    machine: Machine = field(default_factory=Machine)
    flags: tuple[Flag, ...] = ()
    phases_ms: dict[str, float] = field(default_factory=dict)
    walls: tuple[str, ...] = ()
    accepted_missing: tuple[str, ...] = ()
    checks: tuple[Checked, ...] = ()
    share: float = 0.0
    insights: tuple[Insight, ...] = ()
    start: str = ""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The job stands in the queue: how many are before it, and the wait expected."""

    position: int
    wait_s: float


@dataclass(frozen=True, slots=True)
class Progress:
    """The run has entered a phase, or measured `done` of about `total` rounds of it (0 when not known)."""

    phase: Phase
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event of a job."""

    result: Result


Event = Accepted | Progress | Finished


@dataclass(frozen=True, slots=True)
class Wall:
    """One wall as `probe` found it by an attempt from inside."""

    name: str
    stands: bool
    matters: bool
    detail: str = ""
    mend: str = ""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a runner can do, said once at connect. `device_count` is the number of GPUs that one job may have."""

    version: int = PROTOCOL_VERSION
    kinds: tuple[JobKind, ...] = ()
    devices: tuple[Device, ...] = ()
    device_count: int = 0
    slots: int = 1
    machine: Machine = field(default_factory=Machine)
    walls: tuple[Wall, ...] = ()
    accepted_missing: tuple[str, ...] = ()
    noise: float = 0.0
    ceilings: dict[str, float] = field(default_factory=dict)
