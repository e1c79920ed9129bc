# ruff: noqa: E501  (what is said is quoted whole)
from collections.abc import Callable
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from content import loader
from content.faults import Fault

Spoil = Callable[..., list[str]]
Survey = Callable[[], tuple[Fault, ...]]


def without_line(fault: Fault) -> str:
    return f"{fault.file}: {fault.path}: {fault.wrong}; {fault.right}"


def test_the_copied_course_has_no_fault(root: Path) -> None:
    assert loader.survey(root)[1] == ()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        # what the schema says, in a teacher's words
        ("slug: vectorise\n", "slug: Vectorise!\n", snapshot(['lesson.yaml:+0: slug: "Vectorise!" is not allowed here; write a short name: 1 to 24 small Latin letters, digits and hyphens, a letter first'])),
        ("slug: vectorise\n", "slug: vectors\n", snapshot(["lesson.yaml:+0: slug: the slug differs from the folder's name vectorise; write vectorise, or rename the folder"])),
        ("minutes: 35", "minutes: '35'", snapshot(['lesson.yaml:+0: minutes: "35" is not allowed here; write a whole number without quotes'])),
        ("minutes: 35", "minutes: 35.5", snapshot(["lesson.yaml:+0: minutes: 35.5 is not allowed here; write a whole number without quotes"])),
        ("minutes: 35", "minutes: 500", snapshot(["lesson.yaml:+0: minutes: 500 is out of range; write a number of at most 120"])),
        ("minutes: 35", "minutes:", snapshot(["lesson.yaml:+0: minutes: nothing is written here; write a whole number without quotes"])),
        ("minutes: 35\n", "", snapshot(["lesson.yaml:-5: minutes: this key is missing; add it"])),
        ("minutes: 35", "minuts: 35", snapshot(["lesson.yaml:-5: minutes: this key is missing; add it", "lesson.yaml:+0: minuts: this key is not known here; did you mean minutes?"])),
        ("    topic: python_loops\n    blocks:", "    topic: loops\n    blocks:", snapshot(['lesson.yaml:+0: sections[1].topic: "loops" is not known here; write vectorization, python_loops, float16_range_precision, bfloat16, overflow_underflow, gradscaler, autocast, compile_warmup, inductor, triton_kernels, fusion, cuda_graphs, timing_sync, perf_counter, hf_timm, recompiles, dynamic_shapes, cpu_gpu_precision, installation, backends_modes or multi_gpu'])),
        ("      - kind: text\n", "      - kind: txt\n", snapshot(['lesson.yaml:+0: sections[0].blocks[0]: the kind "txt" is not known; write text, code, picture or example'])),
        ("      - kind: text\n        text: >-", "      - text: >-", snapshot(["lesson.yaml:+0: sections[0].blocks[0]: the key kind is missing; add it; it says what this is"])),
        ("    finding: {name: vectorize, against: loop, holds_when: [faster]}", "    finding: {name: vectorize, against: loop, holds_when: [quick]}", snapshot(['lesson.yaml:+0: myths[0].finding.holds_when[0]: "quick" is not known here; write faster, slower or same'])),
        ("    expected: {file: boxed.txt}", "    expected: {file: ../boxed.txt}", snapshot(['lesson.yaml:+0: examples[2].expected.file: "../boxed.txt" is not allowed here; write a file name: small Latin letters, digits and _, ending in .py, .txt or .png'])),
        ("    expected: {file: boxed.txt}", "    expected: {file: boxed.txt, rel: -1}", snapshot(["lesson.yaml:+0: examples[2].expected.rel: -1 is out of range; write a number of at least 0.0"])),
        ("    expected: {file: boxed.txt}", "    expected: boxed.txt", snapshot(['lesson.yaml:+0: examples[2].expected: "boxed.txt" is not allowed here; write keys and values, indented one level deeper'])),
        ("        right: true\n", "        right: yes\n", snapshot(['lesson.yaml:+0: check[0].options[0].right: "yes" is not allowed here; write true or false, without quotes'])),
        ("    ratio: 4.0", "    ratio: 1.0", snapshot(["lesson.yaml:+0: exercises[0].ratio: 1.0 is out of range; write a number greater than 1.0"])),
        ("explorer:\n  kind: amdahl\n  intro: >-", "explorer:\n  kind: amdahl\n  more: [1]\n  intro: >-", snapshot(["lesson.yaml:+2: explorer.more: this key is not known here; remove it; the keys here are kind, intro"])),
        ("needs:\n", "needs: nothing\nneads:\n", snapshot(['lesson.yaml:+0: needs: "nothing" is not allowed here; write a list: one entry a line, each after a dash', "lesson.yaml:+1: neads: this key is not known here; did you mean needs?"])),
        # references
        ("        example: boxed\n", "        example: boxes\n", snapshot(["lesson.yaml:+0: sections[1].blocks[3].example: there is no example boxes in this lesson; write one of boxed, broadcasting, false-friends, layout, list-or-array, masks, mismatch, same-result, small, standardise, strided, temporaries, three-ways, or add the example"])),
        ("    experiment: small", "    experiment: boxed", snapshot(["lesson.yaml:+0: myths[2].experiment: the example boxed is not timed; name one with kind: time"])),
        ("    experiment: small", "    experiment: smaller", snapshot(["lesson.yaml:+0: myths[2].experiment: there is no example smaller in this lesson; write one of boxed, broadcasting, false-friends, layout, list-or-array, masks, mismatch, same-result, small, standardise, strided, temporaries, three-ways, or add the example"])),
        ("{name: out, against: expression,", "{name: output, against: expression,", snapshot(["lesson.yaml:+0: myths[5].finding.name: temporaries.py has no variant output; write one of out"])),
        ("{name: out, against: expression,", "{name: expression, against: out,", snapshot(["lesson.yaml:+0: myths[5].finding.against: out is not the first variant of temporaries.py; write expression: all variants are measured against the first"])),
        ("        file: boxed.py\n        expect: boxed.txt", "        file: box.py\n        expect: boxed.txt", snapshot(["lesson.yaml:+0: sections[1].blocks[2].file: there is no file box.py; create it, or correct the name"])),
        ("        file: boxed.py\n        expect: boxed.txt", "        file: boxed.txt\n        expect: boxed.py", snapshot(["lesson.yaml:+0: sections[1].blocks[2].file: boxed.txt has another ending than .py; name a .py file", "lesson.yaml:+1: sections[1].blocks[2].expect: boxed.py has another ending than .txt; name a .txt file"])),
        ("    expected: {file: boxed.txt}\n", "", snapshot(["lesson.yaml:-4: examples[2]: an example that is run has no expected output; name the file with its output, with varies: true when that depends on the machine"])),
        ("    reference: energy/reference.py", "    reference: energy/starter.py", snapshot(["energy/reference.py:?: nothing in the lesson names this file; use it in lesson.yaml or delete it", "lesson.yaml:+0: exercises[0].reference: starter and reference are the same file; name another file"])),
        # ids
        ("  - id: card-dot\n", "  - id: card-core\n", snapshot(["lesson.yaml:+0: cards[1].id: the id card-core is taken (lessons/vectorise/lesson.yaml:?); choose an id that the course has nowhere else"])),
        ("  - id: card-dot\n", "  - id: q-shape\n", snapshot(["lesson.yaml:?: check[5].id: the id q-shape is taken (lessons/vectorise/lesson.yaml:?); choose an id that the course has nowhere else"])),
        ("  - id: why-slow\n    title", "  - id: three-ways\n    title", snapshot(["lesson.yaml:+0: sections[1].id: the section three-ways exists already in this lesson; choose another id"])),
        # what is asked
        ("        right: true\n", "", snapshot(["lesson.yaml:-3: check[0].options: 0 options are right; mark exactly one option with right: true"])),
        ("        text: بطء الضرب والجمع في المعالج\n", "        text: بطء الضرب والجمع في المعالج\n        right: true\n", snapshot(["lesson.yaml:-6: check[0].options: 2 options are right; mark exactly one option with right: true", "lesson.yaml:+3: check[0].options[1].misconception: the right option shows a misconception; remove the key here"])),
        ("      - id: slow-cpu-math\n        text: بطء الضرب والجمع في المعالج", "      - id: per-element\n        text: كُلفةُ المفسّر  والكائنات عند كلّ عنصر.", snapshot(["lesson.yaml:+0: check[0].options[1].id: the id says the same as that of the option per-element; write another id", "lesson.yaml:+1: check[0].options[1].text: the text says the same as that of the option per-element; write another text"])),
        ("text: بطء الضرب والجمع في المعالج\n", "text: بطء الضرب والجمع في المعالج حين تكون الأعداد كثيرة جدًا وكبيرة جدًا في آن واحد\n", snapshot(["lesson.yaml:+0: check[0].options[1].text: the text has 78 characters; shorten or divide it: at most 60 fit"])),
        ('    answer: "6 3"', '    answer: " 6  3"', snapshot(["lesson.yaml:+0: check[6].answer: the answer is not in the form in which it is compared; write it with single spaces, without spaces around it, and with the digits 0-9"])),
        ('    alternatives: ["6, 3", "6,3"]', '    alternatives: ["6 3", "٦ ٣"]', snapshot(["lesson.yaml:+0: check[6].alternatives[0]: '6 3' is compared as another answer of this item is; remove it or change it", "lesson.yaml:+0: check[6].alternatives[1]: '٦ ٣' is compared as another answer of this item is; remove it or change it"])),
        ("    within: 0.1\n", "", snapshot(["lesson.yaml:-5: check[9]: the number has no tolerance; add within (how far it may be) or rel (which part of the value)"])),
        ('      - answer: "4"\n', '      - answer: "8.05"\n', snapshot(["lesson.yaml:+0: check[9].near[0].answer: 8.05 counts as right already; choose another near miss or less tolerance"])),
        ('      - answer: "4"\n', "      - answer: four\n", snapshot(["lesson.yaml:+0: check[9].near[0].answer: 'four' is no number; write the near miss as a number between quotes"])),
        # marked, judged, ordered and filled in
        ("        feedback: نعم. المقارنة حلقة", "        misconception: odd\n        feedback: نعم. المقارنة حلقة", snapshot(["lesson.yaml:+0: check[12].options[2].misconception: the right option shows a misconception; remove the key here"])),
        ("  - id: q-why-slow\n    kind: single", "  - id: q-why-slow\n    kind: several", snapshot(["lesson.yaml:+4: check[0].options: 1 option is right; mark at least two, or use kind: single"])),
        ("    answer: true\n    to_true:\n", "    answer: false\n    to_true:\n", snapshot(["lesson.yaml:+5: check[13].to_false.misconception: the right answer shows a misconception; remove the key here"])),
        ("    answer: true\n    to_true:\n", "    answer: yes\n    to_true:\n", snapshot(['lesson.yaml:+0: check[13].answer: "yes" is not allowed here; write true or false, without quotes'])),
        ("        text: تُحجز ذاكرة النتيجة", "        text: تُفحص الأنواعُ والأشكال.", snapshot(["lesson.yaml:+0: check[14].steps[2].text: the text says the same as that of the step types; write another text"])),
        ("        text: تُحجز ذاكرة النتيجة", "        text: تُحجز ذاكرة النتيجة كلها دفعة واحدة قبل أن يبدأ أي حساب من الحسابات", snapshot(["lesson.yaml:+0: check[14].steps[2].text: the text has 67 characters; shorten or divide it: at most 60 fit"])),
        ("في `a[:, ____]` لكي", "في `a[:, x]` لكي", snapshot(["lesson.yaml:+0: check[15].question: there is no blank; write exactly one `____`, in the question or in the code"])),
        ("في `a[:, ____]` لكي", "في `a[____, ____]` لكي", snapshot(["lesson.yaml:+0: check[15].question: the question and its code have 2 blanks; write exactly one `____`, in the question or in the code"])),
        ('alternatives: ["np.newaxis", "numpy', 'alternatives: ["none", "numpy', snapshot(["lesson.yaml:+0: check[15].alternatives[0]: 'none' is compared as another answer of this item is; remove it or change it"])),
        ("    reference: quiz/table.py", "    reference: quiz/table_check.py", snapshot(["lesson.yaml:+0: check[16].reference: the solution is shown; name a file that nothing else shows", "quiz/table.py:?: nothing in the lesson names this file; use it in lesson.yaml or delete it"])),
        ("    expect: quiz/table.txt\n", "    expect: quiz/table.py\n", snapshot(["lesson.yaml:+0: check[16].expect: quiz/table.py has another ending than .txt; name a .txt file", "quiz/table.txt:?: nothing in the lesson names this file; use it in lesson.yaml or delete it"])),
        ("      - answer: |-\n          (4, 3)\n          [[0, 0, 0], [0, 1, 2], [0, 2, 4], [0, 3, 6]]", "      - answer: |-\n          (3, 4)\n          [[0, 0, 0, 0], [0, 1, 2, 3], [0, 2, 4, 6]]", snapshot(["lesson.yaml:+1: check[16].near[0].answer: this is what the right code prints; write what the near miss prints"])),
        # prose
        ("كيف أحسب مجموع المربعات من غير حلقة؟", "كيف أحسب مجموع المربعات من غير حلقة?", snapshot(["lesson.yaml:+0: sections[0].questions[0]: the Latin mark ? in an Arabic sentence; write ؟"])),
        ("الطريقة الأولى حلقة `for` تمر", "الطريقة الأولى, حلقة `for` تمر", snapshot(["lesson.yaml:-1: sections[0].blocks[0].text: the Latin mark , in an Arabic sentence; write ،"])),
        ("الطريقة الأولى حلقة `for` تمر", "الطريقة الأولى حلقة for` تمر", snapshot(["lesson.yaml:-1: sections[0].blocks[0].text: a backtick without its partner; close the `code` on its own line (an unquoted ` #` in YAML cuts a text: use | or quotes)", "lesson.yaml:-1: sections[0].blocks[0].text: a single *; write **strong**, or put the expression between backticks"])),
        ("حجم المصفوفة هو عدد العناصر", "حجم المصفوفة np.array هو عدد العناصر", snapshot(["lesson.yaml:+0: check[9].hints[1]: an identifier outside a code span: np.array; put it between backticks, or chats link it or turn it around"])),
        ("ما شكل النتيجة؟", "كيف أجمع مصفوفتين مختلفتي الأبعاد دون حلقة ٣؟", snapshot(["lesson.yaml:+0: check[3].hints[0]: the digit ٣; write 3: digits are 0-9"])),
    ],
)  # fmt: skip
def test_a_mistake_in_a_lesson_is_said_with_its_line_and_what_would_be_right(
    old: str, new: str, said: list[str], faults_after: Spoil
) -> None:
    assert faults_after(old, new) == said


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("small.py", "# %% array\nfloat((x * x).sum())\n", "", snapshot(["lesson.yaml:?: myths[2].finding.name: small.py has no variant array; add the variant", "small.py:?: a timed example has 2 cells; write a set-up cell and at least two variants, each after a line `# %% name`"])),
        ("small.py", "# %% array", "# %% loop", snapshot(["lesson.yaml:?: myths[2].finding.name: small.py has no variant array; write one of loop", "small.py:+0: the cell loop exists already on line 15; give it another name"])),
        ("small.py", "# %% array", "# %%", snapshot(["lesson.yaml:?: myths[2].finding.name: small.py has no variant array; write one of ", "small.py:+0: the cell's name is ''; name it with 1 to 24 Latin letters, digits and signs"])),
        ("small.py", "# %% setup", "import sys\n# %% setup", snapshot(["small.py:+0: code stands before the first `# %% name`; put it into the set-up cell"])),
        ("boxed.py", "print(x.itemsize)", "print(x.itemsize", snapshot(["boxed.py:+0: Python cannot read this ('(' was never closed); mend the code"])),
        ("boxed.py", "print(x.itemsize)", "print(x.itemsize)  # this remark makes the line far too long for a phone", snapshot(["boxed.py:+0: the line has 72 characters; break it: at most 60 fit a phone"])),
        ("boxed.py", "print(x.itemsize)", "# حجم العنصر\nprint(x.itemsize)", snapshot(["boxed.py:+0: the first letter of the line is Arabic, so chats draw the line from right to left; put the comment behind code, or write it in English"])),
        ("boxed.py", "print(x.itemsize)", "print(x.itemsize)  # بايت\u200f", snapshot(["boxed.py:+0: the invisible character U+200F; delete it"])),
        ("boxed.py", "print(x.itemsize)", "if x.size:\n\tprint(x.itemsize)", snapshot(["boxed.py:+1: a tab; use spaces"])),
        ("energy/starter.py", "def solve(x):", "def answer(x):", snapshot(["energy/starter.py:-7: the file defines no solve; define it at the top level: `def solve(x):`"])),
        ("energy/reference.py", "def make(rng, n):", "def make(n):", snapshot(["energy/reference.py:+0: make takes other arguments than rng and n; write `def make(rng, n):`"])),
    ],
)  # fmt: skip
def test_a_mistake_in_a_code_file_is_said_with_its_own_line(
    file: str, old: str, new: str, said: list[str], faults_after: Spoil
) -> None:
    assert faults_after(old, new, file=file) == said


def test_a_file_that_nothing_names_is_a_fault(lesson: Path, survey: Survey) -> None:
    (lesson.parent / "left_over.py").write_text("print(1)\n")
    (lesson.parent / "drawings" / "unseen.py").write_text("HEIGHT = 1\n")
    assert [without_line(fault) for fault in survey()] == snapshot(
        [
            "lessons/vectorise/drawings/unseen.py: : no section shows pictures/unseen.png, which this draws; show it or delete the file",
            "lessons/vectorise/left_over.py: : nothing in the lesson names this file; use it in lesson.yaml or delete it",
        ]
    )


def test_too_few_items_and_kinds_are_counted(lesson: Path, survey: Survey) -> None:
    head, _, _ = lesson.read_text().partition("\ncheck:\n")
    card = "\n".join(
        f"  - {{id: q-{i}, kind: number, topic: vectorization, question: كم؟, value: {i}, within: 0.5, explanation: هكذا}}"
        for i in range(1, 6)
    )
    lesson.write_text(f"{head}\ncheck:\n{card}\n")
    assert [without_line(fault) for fault in survey() if "quiz" not in fault.file] == snapshot(
        ["lessons/vectorise/lesson.yaml: check: the list has 5 entries; write at least 6"]
    )


def test_a_retired_id_may_not_return_and_must_lead_somewhere(root: Path, survey: Survey) -> None:
    (root / "retired.yaml").write_text(
        "retired:\n  - id: card-dot\n  - id: old-one\n    to: card-core\n  - id: old-one\n    to: nowhere\n"
    )
    assert [without_line(fault) for fault in survey()] == snapshot(
        [
            "lessons/vectorise/lesson.yaml: cards[1].id: the id card-dot is retired; choose a new one: learners' records have the old",
            "retired.yaml: retired[2].id: the id old-one is retired twice; keep one entry",
            "retired.yaml: retired[2].to: there is no nowhere in the course; name a living id, or none",
        ]
    )


def test_the_order_of_the_course_names_each_folder_once(root: Path, survey: Survey) -> None:
    (root / "lessons" / "draft").mkdir()
    (root / "lessons" / "draft" / "lesson.yaml").write_text("slug: draft\n")
    (root / "course.yaml").write_text("lessons:\n  - vectorise\n  - vectorise\n  - absent\n")
    assert [without_line(fault) for fault in survey()] == snapshot(
        [
            "course.yaml: lessons: the folder lessons/draft is not named; add it, or move it elsewhere",
            "course.yaml: lessons[1]: the lesson vectorise is named twice; keep one of the two",
            "lessons/absent/lesson.yaml: : there is no file lesson.yaml; create it, or correct the name",
        ]
    )
