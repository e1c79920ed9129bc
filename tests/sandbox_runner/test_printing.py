from sandbox_runner.printing import duration, plain, show_result, show_walls
from sandbox_runner.protocol import (
    Checked,
    Claim,
    Ending,
    Fault,
    Flag,
    JobKind,
    Machine,
    OutFile,
    Ratio,
    Reached,
    Result,
    Stream,
    Variant,
    Wall,
)


def test_a_timing_is_laid_out_as_a_table() -> None:
    result = Result(
        "j",
        JobKind.TIME,
        Ending.OK,
        variants=(
            Variant("loop", 1.5e6, 1.4e6, (1.45e6, 1.6e6), 40, 1, 2e6),
            Variant("vectorised", 999.0, 990.0, (995.0, 1003.0), 40, 1000, 5e3),
        ),
        ratios=(Ratio("vectorised", "loop", 1501.5, (1480.0, 1520.25), Claim.FASTER, 20),),
        flags=(Flag("few_rounds", {"n": 8}),),
        machine=Machine(cpu="A CPU", cores=2, python="3.11.2", numpy="2.4.6"),
        phases_ms={"measure": 1000.4},
        checked="time_only",
    )
    assert show_result(result).splitlines() == [
        "time: ok on cpu",
        "  variant     median  99 % interval      blocks  first call",
        "  loop        1.5 ms  1.45 ms to 1.6 ms  40      2 ms",
        "  vectorised  999 ns  995 ns to 1 µs     40      5 µs",
        "  vectorised against loop: 1502 times (1480 to 1520), faster, 20 rounds",
        "  note: few_rounds (n=8)",
        "  checked: time_only; confirmed by the outer clock: no",
        "  phases: measure 1000 ms",
        "  machine: A CPU, 2 cores, Python 3.11.2, numpy 2.4.6",
    ]


def test_a_learners_error_shows_limit_output_and_files() -> None:
    result = Result(
        "j",
        JobKind.RUN,
        Ending.TIMEOUT_RUN,
        stdout=Stream("first\n", "last\n", 70_000, 4_464),
        fault=Fault("TimeoutError", "TimeoutError: \x1b[31mtoo slow", 3),
        reached=Reached("run_s", 10.0, "s"),
        files=(OutFile("plot.png", "image/png", 12, ""),),
        accepted_missing=("seccomp",),
    )
    shown = show_result(result)
    assert "  TimeoutError: \\x1b[31mtoo slow (line 3)" in shown
    assert "  limit reached: run_s = 10 s" in shown
    assert "    first\n    ... 4464 bytes left out ...\n    last" in shown
    assert "plot.png  image/png  12" in shown
    assert "MISSING, accepted by name: seccomp" in shown


def test_a_missing_wall_is_shown_with_how_to_mend_it() -> None:
    shown = show_walls((Wall("uid", stands=True, matters=True), Wall("net", stands=False, matters=True, mend="a\nb")))
    assert shown.splitlines()[1:] == [
        "  uid   stands   yes",
        "  net   MISSING  yes",
        "to mend net:",
        "  a",
        "  b",
    ]


def test_a_time_has_three_digits_and_its_unit() -> None:
    assert [duration(ns) for ns in (0.5, 12.345, 1234.0, 5.67e6, 2.5e9)] == [
        "0.5 ns", "12.3 ns", "1.23 µs", "5.67 ms", "2.5 s",
    ]  # fmt: skip


def test_only_line_ends_and_tabs_pass_as_control_characters() -> None:
    assert plain("a\tb\nسلام\r\x00\x9b\u200f\u2066\ud800") == "a\tb\nسلام\\r\\x00\\x9b\\u200f\\u2066\\ud800"


def test_precisions_the_machines_share_and_an_exercises_checks_are_laid_out_where_they_are_known() -> None:
    variant = Variant("submission", 2e6, 1e6, (2e6, 2e6), 20, 1, 3e6, precision="float32", bound="memory", reached=0.42)
    checks = (Checked(100, passed=True), Checked(7, passed=False, why="shape"))
    shown = show_result(
        Result("j", JobKind.EXERCISE, Ending.OK, variants=(variant,), checks=checks, share=0.9)
    ).splitlines()
    assert shown[1:] == [
        "  variant     median  99 % interval  blocks  first call  precision  reached",
        "  submission  2 ms    2 ms to 2 ms   20      3 ms        float32    42% of memory",
        "  n    check          error",
        "  100  passed         0",
        "  7    FAILED: shape  0",
        "  90% of the reference's speed",
    ]
