"""What a course is made of: closed, frozen, strict types that the loader fills and the engine reads.

Law: prose fields hold one paragraph or several (a blank line between), with two marks only: `code` in backticks and
**strong**. Ids are explicit and never change; `rev` rises only when the meaning of an item changes.
"""

import hashlib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

FEEDBACK_LIMIT = 200
"""Characters of an option's feedback, so that it fits beside the question in every chat."""

BUBBLE_LIMIT = 900
"""Characters of one paragraph of prose, so that a reply stays readable on a phone."""

Slug = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,23}$")]
"""A lesson's or section's name in buttons and deep links: ASCII, short enough for `1:op:<lesson>.<section>`."""

Id = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{1,39}$")]
"""An item's, card's or example's id, unique in the whole course, immutable."""

Prose = Annotated[str, Field(min_length=2)]
"""Arabic text with the two inline marks."""

FileName = Annotated[str, Field(pattern=r"^[a-z0-9_]+(/[a-z0-9_]+)*\.(py|txt|png)$")]
"""A file beside the lesson, relative to its folder."""


class Topic(StrEnum):
    """The closed list of topics; every section, item and card has one."""

    VECTORIZATION = "vectorization"
    PYTHON_LOOPS = "python_loops"
    FLOAT16_RANGE_PRECISION = "float16_range_precision"
    BFLOAT16 = "bfloat16"
    OVERFLOW_UNDERFLOW = "overflow_underflow"
    GRADSCALER = "gradscaler"
    AUTOCAST = "autocast"
    COMPILE_WARMUP = "compile_warmup"
    INDUCTOR = "inductor"
    TRITON_KERNELS = "triton_kernels"
    FUSION = "fusion"
    CUDA_GRAPHS = "cuda_graphs"
    TIMING_SYNC = "timing_sync"
    PERF_COUNTER = "perf_counter"
    HF_TIMM = "hf_timm"
    RECOMPILES = "recompiles"
    DYNAMIC_SHAPES = "dynamic_shapes"
    CPU_GPU_PRECISION = "cpu_gpu_precision"
    INSTALLATION = "installation"
    BACKENDS_MODES = "backends_modes"
    MULTI_GPU = "multi_gpu"


class Closed(BaseModel):
    """The base of every type: frozen, strict, unknown keys refused."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


# --- what a section shows ---------------------------------------------------------------------------------------------


class TextBlock(Closed):
    """One bubble of prose."""

    kind: Literal["text"]
    text: Prose


class CodeBlock(Closed):
    """A code file of the lesson, shown whole; `expect` is the file with what it prints, when that is to be shown."""

    kind: Literal["code"]
    file: FileName
    expect: FileName | None = None


class PictureBlock(Closed):
    """A picture drawn by the project: `file` for light screens, the same name with `_dark` for dark ones."""

    kind: Literal["picture"]
    file: FileName
    alt: Prose
    caption: Prose | None = None


class ExampleBlock(Closed):
    """A button that runs or times an example of this lesson on the runner at hand."""

    kind: Literal["example"]
    example: Id


Block = Annotated[TextBlock | CodeBlock | PictureBlock | ExampleBlock, Field(discriminator="kind")]


class Section(Closed):
    """A numbered section; it can answer a question on its own."""

    id: Slug
    title: Prose
    topic: Topic
    blocks: tuple[Block, ...] = Field(min_length=1)
    questions: tuple[Prose, ...] = Field(min_length=2, max_length=5)
    source: str | None = None


class Expected(Closed):
    """What an example prints: the file to compare with, exactly, by numbers within `rel`, or not (`varies`)."""

    file: FileName
    rel: float = Field(default=0.0, ge=0.0)
    varies: bool = False


class Example(Closed):
    """A runnable file. `time` measures its `# %%` cells against each other; `run` shows what it prints.

    `gpus` is how many GPUs it needs on `cuda`, or `all` where it uses as many as there are; `memory_mib` is for each.
    """

    id: Id
    title: Prose
    file: FileName
    kind: Literal["run", "time"]
    devices: tuple[Literal["cpu", "cuda"], ...] = ("cpu",)
    expected: Expected | None = None
    memory_mib: int = Field(default=2048, ge=64)
    run_s: float = Field(default=10.0, gt=0)
    gpus: Annotated[int, Field(ge=1, le=64)] | Literal["all"] = 1


# --- what a learner is asked ------------------------------------------------------------------------------------------


class Option(Closed):
    """One option of a choice, with its own feedback and, where it fits, the misconception it shows."""

    id: Id
    text: Prose
    right: bool = False
    feedback: Prose = Field(max_length=FEEDBACK_LIMIT)
    misconception: Id | None = None


class Side(Closed):
    """What is said to one of the two answers to a statement; a misconception stands only at the wrong one."""

    feedback: Prose = Field(max_length=FEEDBACK_LIMIT)
    misconception: Id | None = None


class Step(Closed):
    """One step of an order; `feedback` is said where the learner put another in its place."""

    id: Id
    text: Prose
    feedback: Prose = Field(max_length=FEEDBACK_LIMIT)
    misconception: Id | None = None


class Near(Closed):
    """A known near miss of a typed answer, and what to say to it."""

    answer: str
    feedback: Prose = Field(max_length=FEEDBACK_LIMIT)
    misconception: Id | None = None


class Asked(Closed):
    """What every item has."""

    id: Id
    rev: int = Field(default=1, ge=1)
    topic: Topic
    question: Prose
    code: FileName | None = None
    hints: tuple[Prose, ...] = Field(default=(), max_length=3)
    explanation: Prose


class SingleChoice(Asked):
    """One right option of at least two."""

    kind: Literal["single"]
    options: tuple[Option, ...] = Field(min_length=2, max_length=6)


class PredictOutput(Asked):
    """What does the code print? Compared after normalising spaces and digits; the code's run proves the answer."""

    kind: Literal["predict"]
    code: FileName
    answer: str = Field(min_length=1)
    alternatives: tuple[str, ...] = ()
    near: tuple[Near, ...] = ()


class NumberAnswer(Asked):
    """A number with a tolerance: absolute `within`, or relative `rel`, of `value`."""

    kind: Literal["number"]
    value: float
    within: float = Field(default=0.0, ge=0.0)
    rel: float = Field(default=0.0, ge=0.0)
    unit: str = ""
    near: tuple[Near, ...] = ()


class SeveralChoice(Asked):
    """Every right option of several, at least two of them; credit is max(0, (right - wrong) / right in all)."""

    kind: Literal["several"]
    options: tuple[Option, ...] = Field(min_length=3, max_length=8)


class TrueFalse(Asked):
    """A statement (the question) that is true or not, with what is said to either answer."""

    kind: Literal["true_false"]
    answer: bool
    to_true: Side
    to_false: Side


class OrderSteps(Asked):
    """Steps listed in their right order; they are shown in another."""

    kind: Literal["order"]
    steps: tuple[Step, ...] = Field(min_length=3, max_length=7)


class FillBlank(Asked):
    """What stands in the place of `____` in the question or its code? Typed; letter case counts in code."""

    kind: Literal["blank"]
    answer: str = Field(min_length=1, max_length=60)
    alternatives: tuple[str, ...] = ()
    near: tuple[Near, ...] = ()


class WriteCode(Asked):
    """A few lines to write; `check` is run behind them, and what it prints is compared with the file `expect`.

    Numbers may differ by the part `rel`. `reference` is a solution, shown after giving up only; a near miss is what
    `check` prints for it.
    """

    kind: Literal["code"]
    check: FileName
    expect: FileName
    reference: FileName
    rel: float = Field(default=0.0, ge=0.0)
    near: tuple[Near, ...] = ()


Item = Annotated[
    SingleChoice | SeveralChoice | TrueFalse | PredictOutput | OrderSteps | NumberAnswer | FillBlank | WriteCode,
    Field(discriminator="kind"),
]


class Card(Closed):
    """A flashcard: one idea."""

    id: Id
    rev: int = Field(default=1, ge=1)
    topic: Topic
    front: Prose
    back: Prose


class Finding(Closed):
    """Which measured ratio decides a myth card: the claim holds when it comes out as one of `holds_when`."""

    name: str
    against: str
    holds_when: tuple[Literal["faster", "slower", "same"], ...] = Field(min_length=1)


class Myth(Closed):
    """A claim to vote on; the experiment is run and the measured verdict shown."""

    id: Id
    rev: int = Field(default=1, ge=1)
    topic: Topic
    claim: Prose
    truth: Literal["fact", "myth", "depends"]
    experiment: Id
    finding: Finding
    explanation: Prose


class HiddenCheck(Closed):
    """Fresh inputs for an exercise: the size given to `make(rng, n)` and the error allowed against the reference."""

    n: int = Field(ge=1)
    seed: int = Field(ge=0)
    rel: float = Field(gt=0)


class Exercise(Closed):
    """A task: `starter` is slow and given, `reference` is kept from the learner until success or giving up.

    Both files define `make(rng, n)`, which returns the arguments as a dict, and `solve(**arguments)`.
    """

    id: Id
    rev: int = Field(default=1, ge=1)
    topic: Topic
    title: Prose
    task: Prose
    starter: FileName
    reference: FileName
    checks: tuple[HiddenCheck, ...] = Field(min_length=1)
    ratio: float = Field(gt=1.0, description="how many times faster than the starter the submission must be")
    hints: tuple[Prose, ...] = Field(min_length=1, max_length=3)


class TwoWays(Closed):
    """The same idea twice: as an analogy and as the mechanism."""

    analogy: Prose
    mechanism: Prose


class Worked(Closed):
    """A worked example: the problem, its code, and the steps to it."""

    intro: Prose
    file: FileName
    steps: tuple[Prose, ...] = Field(min_length=2)
    example: Id


class Explorer(Closed):
    """Something to play with without code; `kind` names the computation that the engine makes."""

    kind: Literal["amdahl", "formats", "loss_scaling", "traffic", "break_even"]
    intro: Prose


class Lesson(Closed):
    """One lesson, with every part."""

    slug: Slug
    title: Prose
    summary: Prose
    minutes: int = Field(ge=1, le=120)
    needs: tuple[Prose, ...] = Field(min_length=1)
    core_idea: Prose
    two_ways: TwoWays
    sections: tuple[Section, ...] = Field(min_length=2)
    steps: tuple[Prose, ...] = Field(min_length=2)
    worked: Worked
    explorer: Explorer
    examples: tuple[Example, ...] = Field(min_length=1)
    myths: tuple[Myth, ...] = Field(min_length=3)
    exercises: tuple[Exercise, ...] = Field(min_length=1)
    cards: tuple[Card, ...] = Field(min_length=6)
    check: tuple[Item, ...] = Field(min_length=6)


class Plural(Closed):
    """A phrase with a number: the six CLDR forms of Arabic, each with `{n}` where the number is said."""

    zero: Prose
    one: Prose
    two: Prose
    few: Prose
    many: Prose
    other: Prose


Phrase = str | Plural


class Retired(Closed):
    """An id that is gone, and the one that took its place, if any."""

    id: Id
    to: Id | None = None


class Speech(Closed):
    """Words that tell what a text is, beside what it is about; compared folded, so their spelling is free.

    `stop_words` are lines of words parted by spaces; `latin` gives, to an Arabic word, how it is typed in Latin script;
    `together` gives, to a token of the aliases, sets of other tokens that mean it when they stand in one question;
    `everyday` are lines of tokens that other subjects have as well, so that they make no answer surer; `asking` are
    words with which a question begins, `followups` and `talk` whole short texts, `orders` what a text holds; `defining`
    are lines of words that ask for a term's meaning, before or behind it; `carries` are the words of which short texts
    that carry on are made (`*` behind a root stands for what is written onto it); `of_run` are words, and forms of
    several, by which a question is known to be about the learner's last run.
    """

    stop_words: tuple[str, ...] = ()
    latin: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    together: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    everyday: tuple[str, ...] = ()
    asking: tuple[str, ...] = ()
    followups: Mapping[Literal["why", "example", "more", "simple", "run"], tuple[str, ...]] = Field(
        default_factory=dict
    )
    talk: Mapping[Literal["greeting", "thanks", "insult", "who", "bye"], tuple[str, ...]] = Field(default_factory=dict)
    orders: tuple[str, ...] = ()
    defining: tuple[str, ...] = ()
    carries: Mapping[Literal["why", "example", "more", "simple", "run", "filler", "not", "grasp"], tuple[str, ...]] = (
        Field(default_factory=dict)
    )
    of_run: Mapping[
        Literal[
            "outcome",
            "mine",
            "last",
            "this",
            "result",
            "explain",
            "not",
            "clear",
            "unclear",
            "sure",
            "interval",
            "error",
            "same",
        ],
        tuple[str, ...],
    ] = Field(default_factory=dict)


class Term(Closed):
    """A term of the course: one word for one thing, with the section that explains it.

    `names` are further names by which learners ask for it; `instead_of` are the synonyms that no text may use, without
    the article, each word in the form in which it would stand (`فجوة`, `فجوات`).
    """

    term: Prose = Field(max_length=40)
    english: str = Field(min_length=2, max_length=40)
    meaning: Prose = Field(max_length=300)
    lesson: Slug
    section: Slug
    names: tuple[str, ...] = ()
    instead_of: tuple[str, ...] = ()


class Fitted(Closed):
    """One file of questions from which the bands were fitted."""

    file: str
    sha256: str
    questions: int


class Bands(Closed):
    """When a question is answered, when three sections are offered, and when it is refused: written by `refit`.

    A logistic of the evidence for the best section: the sum of `weights`, each times the evidence of its name, plus
    `bias`. From the probability `answer` on it is answered, from `offer` on sections are offered.
    """

    fitted: str = ""
    data: tuple[Fitted, ...] = ()
    weights: Mapping[str, float] = Field(default_factory=lambda: {"shape": 6.0, "subject": 4.0, "unknown": -4.0})
    bias: float = -3.0
    answer: float = Field(default=0.5, ge=0.0, le=1.0)
    offer: float = Field(default=0.25, ge=0.0, le=1.0)


class RecordedVariant(Closed):
    """One variant's median time and its 99 % interval, ns."""

    name: str = Field(max_length=80)
    median_ns: float = Field(gt=0)
    low_ns: float = Field(gt=0)
    high_ns: float = Field(gt=0)
    first_call_ns: float = Field(ge=0)


class RecordedRatio(Closed):
    """Time of `against` divided by time of `name`, with its 99 % interval and what it allows to be said."""

    name: str = Field(max_length=80)
    against: str = Field(max_length=80)
    point: float = Field(gt=0)
    low: float = Field(gt=0)
    high: float = Field(gt=0)
    claim: Literal["faster", "slower", "same", "unclear"]


class RecordedRun(Closed):
    """What one example gave on one device; `code` is the SHA-256 of its file, `said` the head of what it printed."""

    lesson: Slug
    example: Id
    device: Literal["cpu", "cuda"]
    code: str = Field(pattern="^[0-9a-f]{64}$")
    ending: str = Field(max_length=40)
    confirmed: bool
    checked: str = Field(max_length=40)
    noise: float = Field(ge=0)
    variants: tuple[RecordedVariant, ...] = ()
    ratios: tuple[RecordedRatio, ...] = ()
    flags: tuple[str, ...] = ()
    said: str = Field(default="", max_length=4000)


class RecordedMachine(Closed):
    """What the runs were made on, and when they ended. `title` is how a lesson names it."""

    title: str = Field(min_length=1, max_length=80)
    cpu: str
    cores: int = Field(ge=1)
    gpu: str
    devices: tuple[Literal["cpu", "cuda"], ...] = Field(min_length=1)
    python: str
    numpy: str
    torch: str
    kernel: str
    recorded_at: AwareDatetime
    runs: tuple[RecordedRun, ...]


class Course(Closed):
    """The whole course, loaded at once or not at all.

    `files` holds every text file that lessons name, keyed `<slug>/<file>`; `pictures` the bytes of every picture, by
    the same keys; `hash` changes when anything of it changes. `aliases` give to a canonical word the forms in which
    learners write it; `speech` and `bands` are what reading a question needs besides, `glossary` says what the terms
    mean, `recorded` is what machines gave before; no asked item depends on these, so they leave `hash` as it is.
    """

    lessons: tuple[Lesson, ...]
    phrases: Mapping[str, Phrase]
    retired: tuple[Retired, ...] = ()
    files: Mapping[str, str] = Field(default_factory=dict, repr=False)
    pictures: Mapping[str, bytes] = Field(default_factory=dict, repr=False)
    aliases: Mapping[str, tuple[str, ...]] = Field(default_factory=dict, repr=False)
    speech: Speech = Field(default_factory=Speech, repr=False)
    bands: Bands = Field(default_factory=Bands, repr=False)
    glossary: tuple[Term, ...] = Field(default=(), repr=False)
    recorded: tuple[RecordedMachine, ...] = Field(default=(), repr=False)
    hash: str

    def digest(self, lesson: str, example: Example) -> str:
        """Give the SHA-256 by which a record names an example's code."""
        return hashlib.sha256(self.files.get(f"{lesson}/{example.file}", "").encode()).hexdigest()

    def seen(self, lesson: str, example: Example) -> Iterator[tuple[RecordedMachine, RecordedRun]]:
        """Give what was recorded of an example as it is now, in the order of machines."""
        code = self.digest(lesson, example)
        for machine in self.recorded:
            for run in machine.runs:
                if (run.lesson, run.example, run.code) == (lesson, example.id, code):
                    yield machine, run
