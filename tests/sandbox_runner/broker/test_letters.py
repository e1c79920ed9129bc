import pytest

from sandbox_runner.broker.letters import (
    MOST_PARTS,
    PART_BYTES,
    Assignment,
    Beat,
    Parts,
    assignment_of,
    beat_of,
    end_letters,
    job_letter,
    job_of,
    written,
)
from sandbox_runner.broker.names import (
    LIFE,
    PART,
    attempt_id,
    is_runner,
    job_subject,
    proof,
    result_subject,
    run_subject,
)
from sandbox_runner.errors import WireError
from sandbox_runner.frames import TELL_BYTES, ToldFinished, pack
from sandbox_runner.protocol import PROTOCOL_VERSION, Ending, Finished, Job, JobKind, OutFile, Result
from sandbox_runner.testing import CAPABILITIES


def ended(size: int) -> ToldFinished:
    file = OutFile("x", "text/plain", size, "A" * size)
    return ToldFinished("a-1", Finished(Result("a-1", JobKind.RUN, Ending.OK, files=(file,))))


@pytest.mark.parametrize("size", [0, PART_BYTES - 400, 3 * PART_BYTES])
def test_an_end_of_any_size_comes_back_as_it_was(size: int) -> None:
    parts, told = Parts(), ended(size)
    got = [parts.add(body, headers) for body, headers in end_letters(pack(told, TELL_BYTES), "a-1", "p", "l")]
    assert got[:-1] == [None] * (len(got) - 1)
    assert got[-1] == told


def test_parts_of_another_start_begin_anew() -> None:
    parts, told = Parts(), ended(3 * PART_BYTES)
    first = end_letters(pack(told, TELL_BYTES), "a-1", "p", "before")
    parts.add(*first[0])
    again = end_letters(pack(told, TELL_BYTES), "a-1", "p", "after")
    assert [parts.add(*letter) for letter in again][-1] == told


@pytest.mark.parametrize(
    ("part", "body"),
    [
        ("", b"x"),
        ("1", b"x"),
        ("0/1", b"x"),
        ("2/1", b"x"),
        ("2/3", b"x"),
        (f"1/{MOST_PARTS + 1}", b"x"),
        ("١/١", b"x"),
        ("1/1", b"x" * (PART_BYTES + 1)),
        ("1/1", b"{"),
        ("1/1", b'{"say": "finished"}'),
    ],
)
def test_a_part_that_cannot_be_is_refused(part: str, body: bytes) -> None:
    with pytest.raises(WireError):
        Parts().add(body, {PART: part, LIFE: "l"})


def test_what_is_written_is_read_as_it_was() -> None:
    beat = Beat(PROTOCOL_VERSION, "r1", "life", ("a-1",), CAPABILITIES)
    assert beat_of(written(beat)) == beat
    assert assignment_of(written(Assignment(2, "r1"))) == Assignment(2, "r1")
    job = Job("a-1", JobKind.RUN, "print('سلام')", "learner")
    assert job_of(*job_letter(job, "p")) == (job, "p")


def test_another_version_is_told_before_anything_else_is_read() -> None:
    assert beat_of(b'{"version": 99, "news": []}') == 99
    body, headers = job_letter(Job("a-1", JobKind.RUN, "x", "l"), "p")
    with pytest.raises(WireError, match="version '99'"):
        job_of(body, headers | {"Tasree-Version": "99"})


def test_a_sign_of_life_that_is_too_large_is_refused() -> None:
    with pytest.raises(WireError, match="at most"):
        beat_of(b" " * (65 << 10))


def test_nothing_of_a_job_or_its_learner_stands_in_a_subject() -> None:
    attempt = attempt_id("job.>*", 1)
    for subject in (job_subject("r1", "ali >.*"), run_subject("job.>*"), result_subject("r1", attempt)):
        assert set(subject) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
        assert "ali" not in subject


def test_a_proof_is_of_one_attempt_at_one_runner_by_one_key() -> None:
    proofs = {proof(key, attempt, name) for key in (b"k", b"l") for attempt in ("a-1", "a-2") for name in ("r1", "r2")}
    assert len(proofs) == 8


@pytest.mark.parametrize("name", ["", "R1", "a.b", "a*", "-a", "a-", "x" * 33, "a b", "a\n", "قناة"])
def test_a_name_that_could_mean_more_in_a_subject_is_no_runners(name: str) -> None:
    assert not is_runner(name)
    assert is_runner("gpu-1")
