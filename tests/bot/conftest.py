"""A small course in memory, with the project's own phrases; and the store's databases, of both kinds."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bot.stores import sqlite
from bot.stores.sql import SqlStore
from bot.testing import Conversation
from content import schema
from content.loader import survey
from content.schema import Course, Topic
from tests.bot.databases import Database, PostgresServer, SqliteFile, served

ROOT = Path(__file__).resolve().parent.parent.parent


def option(name: str, text: str, *, right: bool = False, misconception: str | None = None) -> schema.Option:
    return schema.Option(
        id=name, text=text, right=right, feedback=f"ملاحظة على الخيار {name}.", misconception=misconception
    )


def section(name: str, title: str, topic: Topic, *blocks: schema.Block) -> schema.Section:
    return schema.Section(
        id=name,
        title=title,
        topic=topic,
        blocks=(schema.TextBlock(kind="text", text=f"نص القسم `{name}` وفيه **فكرة**.\n\nوفقرة ثانية."), *blocks),
        questions=(f"سؤال أول عن {title}", f"سؤال ثان عن {title}"),
    )


def example(name: str, kind: str, devices: tuple[str, ...] = ("cpu",)) -> schema.Example:
    return schema.Example.model_validate(
        {
            "id": name,
            "title": f"مثال `{name}`",
            "file": f"{name.replace('-', '_')}.py",
            "kind": kind,
            "devices": devices,
        }
    )


def myth(name: str, truth: str, holds: tuple[str, ...]) -> schema.Myth:
    return schema.Myth.model_validate(
        {
            "id": name,
            "topic": Topic.VECTORIZATION,
            "claim": f"ادعاء {name} عن `np.vectorize`.",
            "truth": truth,
            "experiment": "race",
            "finding": {"name": "array", "against": "loop", "holds_when": holds},
            "explanation": f"شرح {name}.",
        }
    )


def items() -> tuple[schema.Item, ...]:
    hints = ("التلميح الأول.", "التلميح الثاني.")
    return (
        schema.SingleChoice(
            kind="single",
            id="item-choice",
            topic=Topic.VECTORIZATION,
            question="أي صيغة أسرع؟",
            hints=hints,
            explanation="لأن الحلقة في لغة C.",
            options=(
                option("loop", "الحلقة", misconception="loops-are-fine"),
                option("array", "المصفوفة", right=True),
                option("both", "سواء"),
            ),
        ),
        schema.PredictOutput(
            kind="predict",
            id="item-predict",
            topic=Topic.PYTHON_LOOPS,
            question="ماذا يطبع هذا الكود؟",
            code="shown.py",
            hints=hints[:1],
            explanation="البث يضرب كل عنصر.",
            answer="[2 4 6]",
            alternatives=("[2, 4, 6]",),
            near=(schema.Near(answer="[1 2 3]", feedback="هذه القيم قبل الضرب."),),
        ),
        schema.NumberAnswer(
            kind="number",
            id="item-number",
            topic=Topic.PYTHON_LOOPS,
            question="ما أكبر عدد في `float16`؟",
            explanation="أكبر عدد هو 65504.",
            value=65504,
            unit="بايت",
            near=(schema.Near(answer="65536", feedback="هذا 2 للقوة 16.", misconception="power-of-two"),),
        ),
        *(
            schema.SingleChoice(
                kind="single",
                id=f"item-more-{i}",
                topic=Topic.VECTORIZATION,
                question=f"سؤال إضافي رقم {i}؟",
                explanation="شرح قصير.",
                options=(option("yes", "نعم", right=True), option("no", "لا")),
            )
            for i in range(3)
        ),
    )


@pytest.fixture(scope="session")
def other_items() -> tuple[schema.Item, ...]:
    """Give an item of each kind that the small lesson has none of."""
    hints = ("التلميح الأول.",)
    return (
        schema.SeveralChoice(
            kind="several",
            id="item-several",
            topic=Topic.VECTORIZATION,
            question="أي العبارات تعمل على المصفوفة كلها؟",
            hints=hints,
            explanation="الحلقة والقائمة تمران على العناصر واحدًا واحدًا.",
            options=(
                option("sum", "`x.sum()`", right=True),
                option("loop", "حلقة `for`", misconception="loops-are-fine"),
                option("times", "`x * 2`", right=True),
                option("list", "قائمة مختصرة", misconception="lists-are-fast"),
                option("dot", "`x @ x`", right=True),
            ),
        ),
        schema.TrueFalse(
            kind="true_false",
            id="item-true-false",
            topic=Topic.VECTORIZATION,
            question="البث ينسخ المصفوفة الصغيرة في الذاكرة.",
            explanation="البث يقرأ القيمة نفسها مرارًا.",
            answer=False,
            to_true=schema.Side(feedback="لا تُنسخ القيم.", misconception="broadcast-copies"),
            to_false=schema.Side(feedback="نعم، تُقرأ مرارًا."),
        ),
        schema.OrderSteps(
            kind="order",
            id="item-order",
            topic=Topic.PYTHON_LOOPS,
            question="ما ترتيب هذه الخطوات؟",
            hints=hints,
            explanation="الإحماء قبل القياس دائمًا.",
            steps=tuple(
                schema.Step(id=name, text=text, feedback=f"ملاحظة على الخطوة {name}.", misconception=missed)
                for name, text, missed in (
                    ("warm", "الإحماء", "no-warm-up"),
                    ("repeat", "القياس مرات كثيرة", None),
                    ("median", "أخذ الوسيط", None),
                    ("compare", "المقارنة", None),
                )
            ),
        ),
        schema.FillBlank(
            kind="blank",
            id="item-blank",
            topic=Topic.VECTORIZATION,
            question="ما الذي يكمل العبارة `x.____(axis=0)` لجمع الأعمدة؟",
            explanation="الدالة `sum` تجمع على المحور.",
            answer="sum",
            alternatives=("sum()",),
            near=(schema.Near(answer="mean", feedback="هذا المتوسط.", misconception="mean-is-sum"),),
        ),
        schema.WriteCode(
            kind="code",
            id="item-code",
            topic=Topic.VECTORIZATION,
            question="كتابة دالة `total` تجمع مربعات قائمة.",
            hints=hints,
            explanation="المربع قبل الجمع.",
            check="total_check.py",
            expect="total.txt",
            reference="total.py",
            near=(schema.Near(answer="36", feedback="هذا مربع المجموع.", misconception="square-of-sum"),),
        ),
    )


def small_lesson(slug: str = "small", title: str = "درس صغير") -> schema.Lesson:
    return schema.Lesson(
        slug=slug,
        title=title,
        summary="ملخص الدرس.",
        minutes=5,
        needs=("معرفة `def`.", "شيء من `numpy`."),
        core_idea="الفكرة في **جملة**.",
        two_ways=schema.TwoWays(analogy="تشبيه قصير.", mechanism="آلية قصيرة."),
        sections=(
            section("loops", "الحلقات البطيئة", Topic.PYTHON_LOOPS, schema.CodeBlock(kind="code", file="shown.py")),
            section(
                "arrays",
                "المصفوفات السريعة",
                Topic.VECTORIZATION,
                schema.PictureBlock(kind="picture", file="bars.png", alt="أعمدة الأزمنة"),
                schema.ExampleBlock(kind="example", example="race"),
            ),
        ),
        steps=("خطوة أولى.", "خطوة ثانية."),
        worked=schema.Worked(intro="مسألة.", file="shown.py", steps=("أول الحل.", "آخر الحل."), example="prints"),
        explorer=schema.Explorer(kind="amdahl", intro="ما أثر تسريع جزء؟"),
        examples=(example("race", "time"), example("prints", "run"), example("on-cuda", "run", ("cuda",))),
        myths=(
            myth("myth-one", "myth", ("faster",)),
            myth("myth-two", "fact", ("slower",)),
            myth("myth-three", "depends", ("same",)),
        ),
        exercises=(
            schema.Exercise(
                id="task-one",
                topic=Topic.VECTORIZATION,
                title="مجموع المربعات",
                task="كتابة `solve` بلا حلقة.",
                starter="starter.py",
                reference="reference.py",
                checks=(schema.HiddenCheck(n=10, seed=1, rel=1e-6),),
                ratio=5.0,
                hints=("تلميح التمرين.",),
            ),
        ),
        cards=tuple(
            schema.Card(id=f"card-{i}", topic=Topic.VECTORIZATION, front=f"وجه {i}", back=f"ظهر {i}") for i in range(6)
        ),
        check=items(),
    )


FILES = {
    "shown.py": "import numpy as np\nprint(np.array([1, 2, 3]) * 2)\n",
    "race.py": "import numpy as np\nx = np.ones(9)\n# %% loop\nsum(x)\n# %% array\nx.sum()\n",
    "prints.py": "print(1 + 1)\n",
    "on_cuda.py": "print('cuda')\n",
    "starter.py": "def make(rng, n):\n    return {}\n\n\ndef solve():\n    return 0\n",
    "total_check.py": "print(total([1, 2, 3]))\n",
    "total.txt": "14\n",
    "total.py": "def total(values):\n    return sum(value**2 for value in values)\n",
    "reference.py": "SECRET_REFERENCE = 1\n",
}


@pytest.fixture(scope="session")
def own_course() -> Course:
    """Give the project's own course."""
    course, faults = survey(ROOT / "content")
    assert course is not None, faults
    return course


@pytest.fixture(scope="session")
def phrases(own_course: Course) -> dict[str, schema.Phrase]:
    """Give the project's own phrases."""
    return dict(own_course.phrases)


@pytest.fixture(scope="session")
def course(own_course: Course, phrases: dict[str, schema.Phrase]) -> Course:
    """Give a course of two small lessons, which reads questions as the project's own does; its bands are fixed."""
    lessons = (small_lesson(), second_lesson())
    files = {f"{lesson.slug}/{name}": text for lesson in lessons for name, text in FILES.items()}
    return Course(
        lessons=lessons,
        phrases=phrases,
        files=files,
        aliases=own_course.aliases,
        speech=own_course.speech,
        hash="a" * 64,
    )


def second_lesson() -> schema.Lesson:
    """Give the small lesson under other ids, as the second of the course."""
    lesson = small_lesson("second", "درس ثان")
    renamed = lesson.model_dump_json()
    for name in ("item-", "myth-", "card-", "task-one", '"race"', '"prints"', '"on-cuda"'):
        other = f'"two-{name[1:]}' if name.startswith('"') else f"two-{name}"
        renamed = renamed.replace(name, other)
    return schema.Lesson.model_validate_json(renamed)


@pytest.fixture
def talk(course: Course) -> Conversation:
    """Give a conversation that has not begun."""
    return Conversation(course)


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a fresh database, to be copied: making one takes half a second."""
    path = tmp_path_factory.mktemp("migrated") / "fresh.db"
    sqlite.migrate(path)
    return path


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """Give a PostgreSQL server that was started here and ends with the session."""
    with served() as server:
        yield server


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.services)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """Give a migrated database of the test's own: the test runs once on each kind."""
    if request.param == "sqlite":
        sqlite.migrate(tmp_path / "t.db")
        yield SqliteFile(tmp_path / "t.db")
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    yield server.emptied()


@pytest.fixture
async def store(database: Database) -> AsyncIterator[SqlStore]:
    """Give an open store on that database."""
    opened = database.open()
    yield opened
    await opened.close()
